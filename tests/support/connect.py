"""A Spark Connect server on loopback, whose Python has what tvfsql needs but not tvfsql."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from tests.support.standalone import HOME, QUICK_JAVA, free_port, workers_python
from tvfsql.runtime.local_spark.java import find_java, spark_java_home

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


class ConnectServer:
    """A server with one core. `remote` is its URL."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        self.remote, self.log = f"sc://127.0.0.1:{port}", folder / "server.log"
        python = workers_python(folder / "python")
        settings = {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(port),
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.pyspark.python": python,
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.ui.enabled": "false",
        }
        java = ["--driver-java-options", f"{QUICK_JAVA} -Dderby.system.home={folder}"]
        confs = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
        command = [str(HOME / "bin" / "spark-submit"), "--master", "local[1]", *java, *confs, "--class", SERVER]
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYSPARK", "SPARK"))}
        own = {
            "SPARK_HOME": str(HOME),
            "JAVA_HOME": str(spark_java_home(find_java())),
            "PYSPARK_PYTHON": python,
        }
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [*command, "spark-internal"], cwd=folder, env=kept | own, stdout=log, stderr=log, start_new_session=True
            )
        try:
            self._await(port)
        except AssertionError:
            self.stop()
            raise

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()

    def _await(self, port: int) -> None:
        until = time.monotonic() + 600
        while True:
            with socket.socket() as found:
                if found.connect_ex(("127.0.0.1", port)) == 0:
                    return
            if time.monotonic() > until or self.process.poll() is not None:
                raise AssertionError(self.log.read_text(errors="replace")[-2000:])
            time.sleep(0.1)
