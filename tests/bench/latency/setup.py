"""What is measured: the windows, the transports, and what an engine's process is told."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from tests.bench.cases import Case
from tests.bench.engines import flink_sql
from tvfsql.plan.stream import PACE
from tvfsql.plan.window import Hop, Tumble

SECOND = 1_000
KEYS = 10_000
PARTITIONS = 2  # of the topic with the rows
ENGINES = ("tvfsql", "Spark's own", "Flink")
WINDOWS = {
    "tumble": Case("tumble", "TUMBLE 1 s", Tumble(SECOND)),
    "hop": Case("hop", "HOP 1 s/1 min", Hop(SECOND, 60 * SECOND)),
}
# many rows have the same millisecond, so one that follows with the same time must not be late
ASCENDING = "WATERMARK FOR ts AS ts - INTERVAL '0.001' SECOND"
COLUMNS = "window_start TIMESTAMP(3), window_end TIMESTAMP(3), k INT, total BIGINT, n BIGINT, top BIGINT"


@dataclass(frozen=True)
class Setup:
    """A stream: its window (one of WINDOWS), where its rows come from, and the topic that its results go to. With a
    `folder` rows come from its files, else from the topic `source`. Micro-batches of tvfsql have this `pace`, those of
    Spark's own start `interval` ms apart (0: as soon as there are rows)."""

    engine: str
    window: str
    servers: str
    results: str
    folder: str = ""
    source: str = ""
    pace: int = PACE
    interval: int = 0

    @classmethod
    def of(cls, text: str) -> Setup:
        return cls(**json.loads(text))

    def text(self) -> str:
        return json.dumps(asdict(self))

    @property
    def case(self) -> Case:
        return WINDOWS[self.window]

    def tables(self, of_files: str = "", of_kafka: str = "") -> list[str]:
        """CREATE TABLE `bid` and `results`, as tvfsql and Flink read it, with further options of the source."""
        if self.folder:
            source = f"'connector' = 'filesystem', 'path' = '{self.folder}', 'format' = 'csv'{of_files}"
        else:
            source = f"{self._topic(self.source)}, 'scan.startup.mode' = 'earliest-offset'{of_kafka}"
        bid = f"ts TIMESTAMP(3), k INT, v BIGINT, {ASCENDING}"
        return [
            f"CREATE TABLE bid ({bid}) WITH ({source})",
            f"CREATE TABLE results ({COLUMNS}) WITH ({self._topic(self.results)})",
        ]

    @property
    def select(self) -> str:
        return flink_sql(self.case)

    def _topic(self, name: str) -> str:
        servers = f"'properties.bootstrap.servers' = '{self.servers}'"
        return f"'connector' = 'kafka', 'topic' = '{name}', {servers}, 'format' = 'csv'"
