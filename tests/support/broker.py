"""A Kafka broker on the loopback interface: one node without ZooKeeper, started from jars of Maven Central.

Spark's package is listed in kafka/ivy.xml by its parts, because a version of Spark can be released before it.
"""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.support.server_jars import SPARK_JARS, Unreachable, free_ports, jars, java

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
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""


class Broker:
    """A running broker."""

    def __init__(self, folder: Path) -> None:
        found = jars("kafka")
        if isinstance(found, Unreachable):
            raise found
        ports = free_ports(2)
        self.servers = f"127.0.0.1:{ports[0]}"
        self.log = folder / "broker.log"
        settings = folder / "server.properties"
        settings.write_text(PROPERTIES.format(broker=ports[0], controller=ports[1], folder=folder / "data"))
        # a small heap, and compilers that start fast: it lives for a minute
        self._command = [java(), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
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
