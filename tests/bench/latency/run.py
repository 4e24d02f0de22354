"""One run: an engine in a process of its own, a feeder in another, and the topic of the results between them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from tests.bench.latency.feeder import TICK, Feed
from tests.bench.latency.kafka import Kafka, flink_jar, spark_jars
from tests.bench.latency.measured import Measured
from tests.bench.latency.setup import KEYS, PARTITIONS, Setup
from tests.bench.processes import cpu_seconds_of
from tests.bench.stream_engines import FLINK
from tvfsql.runtime.local_spark.java import find_java

HERE = Path(__file__).parent
TOLD = "micro-batches.json"
AFTER = 10  # seconds that an engine has for its last windows
PATIENCE = 120  # seconds until an engine has started, or stopped
FLINK_SETTINGS = {
    "parallelism.default": str(len(os.sched_getaffinity(0))),
    "execution.checkpointing.interval": "1 s",
    "table.local-time-zone": "UTC",
}
REPORTS = "spark.sql.streaming.numRecentProgressUpdates=100000"  # all of a run
_numbers = count(1)


@dataclass(frozen=True)
class Runner:
    """Runs engines with a broker. `scratch` is for files."""

    kafka: Kafka
    scratch: Path

    def run(self, engine: str, window: str, transport: str, rate: int, seconds: int, warm_up: int) -> Measured:
        """Feed an engine for so many seconds and collect what arrived."""
        with self.prepared(engine, window, transport) as (setup, folder):
            with self.engine(setup, folder) as process:
                clock, cpu = time.monotonic(), cpu_seconds_of(process.pid)
                self.feed(setup, rate, seconds, folder / "ticks.csv")
                cores = (cpu_seconds_of(process.pid) - cpu) / (time.monotonic() - clock)
                time.sleep(AFTER)
            feed, arrived = Feed.of(folder / "ticks.csv", rate), self.kafka.arrived(setup.results)
            told = folder / TOLD
            told_by_spark = json.loads(told.read_text() or "{}") if told.exists() else {}
            sent = None if transport == "files" else self.kafka.messages(setup.source)
        micro_batches = tuple(told_by_spark.get("micro_batches", ()))
        return Measured(setup, feed, arrived, cores, micro_batches, warm_up, told_by_spark.get("late"), sent)

    @contextmanager
    def prepared(self, engine: str, window: str, transport: str) -> Iterator[tuple[Setup, Path]]:
        """Topics for a run, and a folder for its files. Both are deleted at its end."""
        name = f"run-{next(_numbers)}"
        folder = self.scratch / name
        rows = folder / "bid"
        rows.mkdir(parents=True)
        from_files = transport == "files"
        source = {"folder": str(rows)} if from_files else {"source": f"{name}-bid"}
        setup = Setup(engine, window, self.kafka.servers, f"{name}-results", **source)
        self.kafka.make_topic(setup.results, arrival=True)
        if not from_files:
            self.kafka.make_topic(setup.source, PARTITIONS)
        yield setup, folder
        for topic in filter(None, (setup.source, setup.results)):
            self.kafka.delete_topic(topic)
        shutil.rmtree(folder)

    def feed(self, setup: Setup, rate: int, seconds: int, log: Path) -> None:
        command = [sys.executable, HERE / "feeder.py", "--rate", rate, "--seconds", seconds, "--keys", KEYS]
        command = [*map(str, command), "--log", str(log)]
        if setup.folder:
            subprocess.run([*command, "--folder", setup.folder], check=True)
        else:
            with self.kafka.producer(setup.source) as lines:
                subprocess.run(command, stdout=lines, check=True)

    @contextmanager
    def engine(self, setup: Setup, folder: Path) -> Iterator[subprocess.Popen[str]]:
        """The process of an engine whose stream has started. It ends when its stdin does, or it is killed."""
        command, environment = _of_flink(setup, folder) if setup.engine == "Flink" else _of_spark(setup)
        with (folder / "engine.log").open("w") as log:
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": log}
            process = subprocess.Popen(command, env=environment, text=True, **pipes)
        assert process.stdout is not None
        try:
            if not any(line.strip() == "started" for line in process.stdout):
                raise AssertionError(f"{setup.engine} did not start:\n{(folder / 'engine.log').read_text()[-3000:]}")
            yield process
            (folder / TOLD).write_text(process.communicate(timeout=PATIENCE)[0])
        except subprocess.TimeoutExpired:
            pass  # it is too far behind to stop after its micro-batch
        finally:
            process.kill()
            process.wait()


def _of_spark(setup: Setup) -> tuple[Sequence[str], dict[str, str]]:
    path = os.pathsep.join([str(HERE.parents[2]), os.environ.get("PYTHONPATH", "")])
    submit = f"--jars {spark_jars()} --conf {REPORTS} pyspark-shell"
    own = {"PYTHONPATH": path, "PYSPARK_SUBMIT_ARGS": submit}
    return [sys.executable, "-m", "tests.bench.latency.spark_job", setup.text()], {**os.environ, **own}


def _of_flink(setup: Setup, folder: Path) -> tuple[Sequence[str], dict[str, str]]:
    settings = {
        **FLINK_SETTINGS,
        "pipeline.jars": flink_jar().as_uri(),
        "execution.checkpointing.dir": (folder / "checkpoints").as_uri(),
    }
    statements = setup.tables(of_files=f", 'source.monitor-interval' = '{TICK} ms'")
    job = {"settings": settings, "statements": [*statements, f"INSERT INTO results {setup.select}"]}
    command = [str(FLINK / "bin/python"), str(HERE / "flink_job.py"), json.dumps(job)]
    return command, {**os.environ, "JAVA_HOME": str(find_java().home)}
