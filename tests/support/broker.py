"""A Kafka broker on the loopback interface: one node without ZooKeeper, started from jars of Maven Central.

Ivy, which Spark includes, downloads the jars that kafka/ivy.xml lists. It checks their checksums, and they are kept in
the user's cache. Spark's package is listed there by its parts, because a version of Spark can be released before it.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

from tvfsql.folders import cache_folder
from tvfsql.runtime.local_spark.java import find_java

IVY_FILE = Path(__file__).with_name("kafka") / "ivy.xml"
SPARK_JARS = Path(pyspark.__file__).with_name("jars")
CLUSTER = "MkU3OEVBNTcwNTJENDM2Qg"  # an id as Kafka makes them
PROPERTIES = """\
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker}
controller.listener.names=CONTROLLER
controller.quorum.voters=1@127.0.0.1:{controller}
log.dirs={folder}
auto.create.topics.enable=false
log.cleaner.dedupe.buffer.size=4194304
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""


class Unreachable(Exception):
    """The jars cannot be downloaded."""


@cache
def jars() -> Path | Unreachable:
    """The folder of the jars, with `broker` and `client` in it; downloads them if they are missing."""
    kept = cache_folder() / f"kafka-{hashlib.sha256(IVY_FILE.read_bytes()).hexdigest()[:12]}"
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.with_name(f"{kept.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        return kept if kept.is_dir() else _fetched(kept)


def _fetched(kept: Path) -> Path | Unreachable:
    draft = kept.with_name(f"{kept.name}.draft")
    (ivy,) = SPARK_JARS.glob("ivy-*.jar")
    pattern = f"{draft}/[conf]/[artifact]-[revision].[ext]"
    command = [_java(), "-jar", ivy, "-cache", draft / "ivy", "-m2compatible", "-ivy", IVY_FILE]
    command += ["-types", "jar", "bundle", "-retrieve", pattern]
    try:
        subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    except subprocess.TimeoutExpired:
        return Unreachable("Maven Central does not answer, and the jars of Kafka come from there")
    except subprocess.CalledProcessError as error:
        told = [line.strip() for line in error.stdout.splitlines() if "not found" in line.lower()]
        return Unreachable(f"the jars of Kafka cannot be fetched from Maven Central: {told[-1:]}")
    shutil.rmtree(draft / "ivy")
    draft.rename(kept)
    return kept


def client_jars() -> str | None:
    """The jars that Spark needs, as the value of `--jars`; None if they cannot be downloaded."""
    found = jars()
    return None if isinstance(found, Unreachable) else ",".join(map(str, sorted((found / "client").glob("*.jar"))))


class Broker:
    """A running broker."""

    def __init__(self, folder: Path) -> None:
        found = jars()
        if isinstance(found, Unreachable):
            raise found
        ports = _free_ports(2)
        self.servers = f"127.0.0.1:{ports[0]}"
        self.log = folder / "broker.log"
        settings = folder / "server.properties"
        settings.write_text(PROPERTIES.format(broker=ports[0], controller=ports[1], folder=folder / "data"))
        # a small heap, and compilers that start fast: it lives for a minute
        self._command = [_java(), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        self._command += ["-cp", f"{found / 'broker'}/*:{SPARK_JARS}/*"]
        with self.log.open("wb") as log:
            formatting = ["kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", settings]
            subprocess.run([*self._command, *formatting], stdout=log, stderr=log, check=True, timeout=120)
            self._process = subprocess.Popen([*self._command, "kafka.Kafka", settings], stdout=log, stderr=log)
        self._wait(ports[0])

    def make_topic(self, spark: SparkSession, name: str, partitions: int = 3) -> None:
        """Create a topic with the client inside Spark."""
        java = spark._jvm
        assert java is not None
        topics = java.java.util.ArrayList()
        topics.add(java.org.apache.kafka.clients.admin.NewTopic(name, partitions, 1))
        with self._admin(java) as admin:
            admin.createTopics(topics).all().get()

    def delete_messages(self, spark: SparkSession, topic: str, before: int) -> None:
        """Delete the messages of partition 0 before an offset, as Kafka does with what is too old."""
        java = spark._jvm
        assert java is not None
        partition = java.org.apache.kafka.common.TopicPartition(topic, 0)
        deleted = java.java.util.HashMap()
        deleted.put(partition, _records_to_delete(spark, java, before))
        with self._admin(java) as admin:
            admin.deleteRecords(deleted).all().get()

    @contextmanager
    def _admin(self, java: Any) -> Iterator[Any]:
        settings = java.java.util.Properties()
        settings.put("bootstrap.servers", self.servers)
        admin = java.org.apache.kafka.clients.admin.AdminClient.create(settings)
        try:
            yield admin
        finally:
            admin.close()

    def _wait(self, port: int) -> None:
        until = time.monotonic() + 120
        while time.monotonic() < until and self._process.poll() is None:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.2)
        self.stop()
        raise AssertionError(f"the broker did not start:\n{self.log.read_text()[-3000:]}")

    def stop(self) -> None:
        self._process.kill()  # nothing of it is needed any more
        self._process.wait(30)


def _records_to_delete(spark: SparkSession, java: Any, before: int) -> Any:
    """RecordsToDelete.beforeOffset(before): py4j finds no static methods in jars that are given with --jars."""
    gateway = spark.sparkContext._gateway
    loader = java.java.lang.Thread.currentThread().getContextClassLoader()
    kind = java.java.lang.Class.forName("org.apache.kafka.clients.admin.RecordsToDelete", True, loader)
    kinds, values = gateway.new_array(java.java.lang.Class, 1), gateway.new_array(java.java.lang.Object, 1)
    kinds[0], values[0] = java.java.lang.Long.TYPE, before
    return kind.getMethod("beforeOffset", kinds).invoke(None, values)


def _java() -> str:
    return str(find_java().home / "bin" / "java")


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
