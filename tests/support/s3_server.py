"""S3 on the loopback interface: a server in this process, and what Spark needs to reach it."""

from __future__ import annotations

import boto3
from moto.server import ThreadedMotoServer

from tests.support.server_jars import Unreachable, jars, jars_in

KEYS = {"access.key": "testing", "secret.key": "testing"}


class S3:
    """A running S3 with a bucket, whose URL is `url`. `submit`: the arguments with which Spark can reach it."""

    def __init__(self) -> None:
        found = jars("s3", patience=600)
        if isinstance(found, Unreachable):
            raise found
        self._server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        self._server.start()
        host, port = self._server.get_host_and_port()
        endpoint = f"http://{host}:{port}"
        made = {"aws_access_key_id": KEYS["access.key"], "aws_secret_access_key": KEYS["secret.key"]}
        boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", **made).create_bucket(Bucket="bucket")
        self.url = "s3a://bucket"
        settings = {"endpoint": endpoint, "endpoint.region": "us-east-1", "path.style.access": "true", **KEYS}
        settings["optimized.copy.from.local.enabled"] = "false"  # the server cannot read such uploads
        given = " ".join(f"--conf spark.hadoop.fs.s3a.{key}={value}" for key, value in settings.items())
        self.submit = f"--jars {jars_in('s3', 'client')} {given}"

    def stop(self) -> None:
        self._server.stop()
