"""A standalone Spark cluster on loopback, whose workers' Python has what tvfsql needs but not tvfsql."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sysconfig
import time
import venv
from pathlib import Path

import pyspark

from tests.support.small_spark import INTERPRETED
from tvfsql.runtime.local_spark.java import find_java, spark_java_home

HOME = Path(pyspark.__file__).parent
# of those that tvfsql names, what runs in Spark's workers, with what it needs; pyspark comes with Spark
PACKAGES = ("dateutil", "google", "numpy", "numpy.libs", "pandas", "pyarrow", "pytz", "six.py", "tzdata")
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class Cluster:
    """A master and its workers, one core each."""

    def __init__(self, folder: Path, workers: int = 2, without: str = "") -> None:
        self.folder, self.processes = folder, list[subprocess.Popen[bytes]]()
        folder.mkdir(exist_ok=True)
        self.python = workers_python(folder / "python", without)
        port = free_port()
        self.master = f"spark://127.0.0.1:{port}"
        self._start("master", "Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
        for i in range(workers):
            work = str(folder / f"work-{i}")
            own = ("--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", work)
            self._start(f"worker-{i}", "Worker", *own, self.master)
        self._await(workers)

    @property
    def options(self) -> list[str]:
        """What the command line needs besides the master."""
        settings = {
            "spark.pyspark.python": self.python,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.executor.memory": "512m",
            "spark.driver.extraJavaOptions": QUICK_JAVA,
            "spark.executor.extraJavaOptions": QUICK_JAVA,
            **INTERPRETED,
            "spark.sql.shuffle.partitions": "2",
        }
        return ["--master", self.master, *(f"--conf={key}={value}" for key, value in settings.items())]

    def executors(self) -> list[int]:
        """The processes of the executors."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                line = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if (
                b"CoarseGrainedExecutorBackend" in line
                and self.master.encode().rpartition(b":")[2] in (process / "environ").read_bytes()
            ):
                found.append(int(process.name))
        return found

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            process.wait()

    def _start(self, name: str, of: str, *arguments: str) -> None:
        java = spark_java_home(find_java()) / "bin" / "java"
        jars = HOME / "jars" / "*"
        command = [
            str(java),
            *QUICK_JAVA.split(),
            "-Xmx256m",
            "-cp",
            str(jars),
            f"org.apache.spark.deploy.{of.lower()}.{of}",
        ]
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYSPARK", "SPARK"))}
        environment = kept | {
            "SPARK_HOME": str(HOME),
            "SPARK_SCALA_VERSION": "2.13",
            "JAVA_HOME": str(java.parents[1]),
            "TVFSQL_CLUSTER": self.master,
        }
        with open(self.folder / f"{name}.log", "wb") as log:
            self.processes.append(subprocess.Popen([*command, *arguments], env=environment, stdout=log, stderr=log))

    def _await(self, workers: int) -> None:
        logs = [self.folder / f"worker-{i}.log" for i in range(workers)]
        until = time.monotonic() + 60
        while not all("Successfully registered with master" in log.read_text(errors="replace") for log in logs):
            if time.monotonic() > until or any(process.poll() is not None for process in self.processes):
                self.stop()
                raise AssertionError(
                    "\n".join(log.read_text(errors="replace")[-2000:] for log in self.folder.glob("*.log"))
                )
            time.sleep(0.05)


def workers_python(folder: Path, without: str = "") -> str:
    """A Python that can import what Spark's workers need, and neither tvfsql nor pyspark."""
    venv.create(folder, with_pip=False, symlinks=True)
    (target,) = folder.glob("lib/python*/site-packages")
    for name in PACKAGES:
        source = Path(sysconfig.get_path("purelib"), name)
        if source.exists() and name != without:
            (target / name).symlink_to(source)
    return str(folder / "bin" / "python")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
