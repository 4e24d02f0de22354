"""A broker of the tests' own, and Kafka's tools: topics, a producer that reads lines, and what arrived when."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from tests.support.broker import Broker
from tests.support.server_jars import SPARK_JARS, Unreachable, jars, jars_in, java

__all__ = ["Kafka", "Unreachable", "flink_jar", "running", "spark_jars"]

LINGER = 5  # ms that the producer waits for more rows
PATIENCE = 30_000  # ms that the producer waits for an answer
ALL_READ = 2_000  # ms without a row after which a topic is read to its end
ARRIVAL = "LogAppendTime:"
COLUMNS = {
    "window_start": pa.timestamp("ms"),
    "window_end": pa.timestamp("ms"),
    "k": pa.int32(),
    "total": pa.int64(),
    "n": pa.int64(),
    "top": pa.int64(),
}


class Kafka:
    """A running broker."""

    def __init__(self, folder: Path) -> None:
        tools = jars("bench_jars")
        if isinstance(tools, Unreachable):
            raise tools
        self.broker = Broker(folder)
        self.servers, self.errors = self.broker.servers, folder / "tools.log"
        path = f"{tools / 'tools'}/*:{jars('kafka') / 'broker'}/*:{SPARK_JARS}/*"
        self._java = [java(), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        self._java += ["-Dorg.apache.logging.log4j.level=OFF", "-cp", path]  # the log would go to stdout, to the rows

    def make_topic(self, name: str, partitions: int = 1, *, arrival: bool = False) -> None:
        """With `arrival`, the broker stamps each row with its own clock when the row arrives."""
        asked = ["--create", "--topic", name, "--partitions", str(partitions)]
        asked += ["--config", "message.timestamp.type=LogAppendTime"] if arrival else []
        with self._tool("TopicCommand", *asked) as command:
            assert command.wait() == 0, self.errors.read_text()

    def delete_topic(self, name: str) -> None:
        with self._tool("TopicCommand", "--delete", "--topic", name) as command:
            assert command.wait() == 0, self.errors.read_text()

    @contextmanager
    def producer(self, topic: str) -> Iterator[IO[bytes]]:
        """Takes lines `key;row`. It is idempotent, as Kafka's producers are unless `acks` is set: repeated requests
        neither repeat rows nor change their order."""
        options = ("--property", "parse.key=true", "--property", "key.separator=;")
        more = ("--timeout", str(LINGER), "--batch-size", str(1 << 17), "--request-timeout-ms", str(PATIENCE))
        with self._tool("ConsoleProducer", "--topic", topic, *options, *more, stdin=subprocess.PIPE) as command:
            assert command.stdin is not None
            yield command.stdin
            command.stdin.close()

    def messages(self, topic: str) -> int:
        """How many there are."""
        with self._tool("GetOffsetShell", "--topic", topic, stdout=subprocess.PIPE) as command:
            assert command.stdout is not None
            return sum(int(line.rsplit(b":", 1)[1]) for line in command.stdout.read().splitlines())

    def arrived(self, topic: str) -> pa.Table:
        """The window rows of a topic: COLUMNS and their time of arrival (epoch ms), from the broker's clock."""
        options = ["--topic", topic, "--partition", "0", "--offset", "earliest", "--timeout-ms", str(ALL_READ)]
        for option in ("print.timestamp=true", "key.separator=,"):
            options += ["--property", option]
        names = ["arrival", *COLUMNS]
        read = pyarrow.csv.ReadOptions(column_names=names)
        types = pyarrow.csv.ConvertOptions(column_types={"arrival": pa.string(), **COLUMNS})
        with self._tool("consumer.ConsoleConsumer", *options, stdout=subprocess.PIPE) as command:
            assert command.stdout is not None
            lines = command.stdout.read()
        if not lines:
            return pa.table({name: pa.array([], kind) for name, kind in {"arrival": pa.int64(), **COLUMNS}.items()})
        found = pyarrow.csv.read_csv(pa.BufferReader(lines), read, convert_options=types)
        stamps = pc.cast(pc.utf8_slice_codeunits(found["arrival"], len(ARRIVAL)), pa.int64())
        return found.set_column(0, "arrival", stamps)

    @contextmanager
    def _tool(self, name: str, *options: str, **pipes: Any) -> Iterator[subprocess.Popen[bytes]]:
        kind = f"org.apache.kafka.tools.{name}"
        command = [*self._java, kind, "--bootstrap-server", self.servers, *options]
        with self.errors.open("ab") as log, subprocess.Popen(command, **{"stdout": log, **pipes}, stderr=log) as tool:
            yield tool


@contextmanager
def running(folder: Path) -> Iterator[Kafka]:
    """Raises Unreachable if its jars cannot be downloaded."""
    kafka = Kafka(folder)
    try:
        yield kafka
    finally:
        kafka.broker.stop()


def spark_jars() -> str:
    """What Spark needs to reach Kafka, as the value of `--jars`."""
    found = jars_in("kafka", "client")
    assert found is not None
    return found


def flink_jar() -> Path:
    """Flink's connector."""
    tools = jars("bench_jars")
    assert isinstance(tools, Path)
    (found,) = (tools / "flink").glob("*.jar")
    return found
