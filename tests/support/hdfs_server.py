"""HDFS on the loopback interface: a name node and a data node in one process, started from jars of Maven Central."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

from tests.support.server_jars import SPARK_JARS, Unreachable, jars, java


class Hdfs:
    """A running HDFS. Its nodes take free ports; `url` is that of the name node."""

    def __init__(self, folder: Path) -> None:
        found = jars("hdfs")
        if isinstance(found, Unreachable):
            raise found
        details, self.log = folder / "details.json", folder / "hdfs.log"
        command = [java(), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Dtest.build.data={folder}"]
        command += ["-cp", f"{found / 'cluster'}/*:{SPARK_JARS}/*", "org.apache.hadoop.test.MiniDFSClusterManager"]
        command += ["-format", "-datanodes", "1", "-writeDetails", str(details)]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
        until = time.monotonic() + 120
        while time.monotonic() < until and self._process.poll() is None:
            if details.exists() and (text := details.read_text()):
                self.url = f"hdfs://127.0.0.1:{json.loads(text)['namenode_port']}"
                return
            time.sleep(0.1)
        self.stop()
        raise AssertionError(f"HDFS did not start:\n{self.log.read_text()[-3000:]}")

    def stop(self) -> None:
        self._process.kill()  # nothing of it is needed any more
        self._process.wait(30)
