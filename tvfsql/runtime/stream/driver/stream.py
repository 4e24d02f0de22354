"""What is to be run: a stream, and where its input ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pyspark.sql.streaming.readwriter import DataStreamWriter

from tvfsql.plan.stream import PACE
from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import Place, for_spark
from tvfsql.runtime.cluster.places import refuse_functions
from tvfsql.runtime.stream.driver.gate import TRIGGER
from tvfsql.runtime.stream.driver.identity import new_identity
from tvfsql.runtime.stream.lives.end_of_input import (
    reads_all_at_once,
    topics_can_end,
)
from tvfsql.runtime.stream.lives.idle_sources import Source
from tvfsql.runtime.stream.progress.metrics import Report


@dataclass(frozen=True)
class Stream:
    """A stream to run. `build` makes its writer. Its state is in `checkpoint`; None: in a temporary folder.

    A stream that is not `endless` ends when all available input has been read. With a checkpoint that is the end of
    the run: open windows wait for the next one. Without a checkpoint, or if it is `final`, it is the end of time: every
    window fires. This takes one run of the query if all sources are files, generated or Kafka, and two if another one
    can get rows at any time.

    `sources` are the tables that it reads, in order. Windows do not wait for idle ones. When all are idle, open windows
    fire too if `idle_advance` is set. With `keeps_late` late rows go into tables. Micro-batches start `interval` ms
    apart; 0: as soon as there are rows and `Pace` allows it, with `pace` and `between_windows` (ms; `pace` 0: always).
    `real_time`: ms that its micro-batches last in Spark's real-time mode; 0: it does not run in it. `name` is the name
    of its query; "": none. `report` receives its metrics after each micro-batch, under its name or `label`. A stream
    `beside` another one has no counters and no manual watermarks of its own: both belong to the other. Each micro-batch
    reads the tables `looks_up` anew. `writes` are the folders for files of its rows, `logged` those in which Spark
    keeps a log of its files. It stops after `limit` rows, which follow `offset` others; None: it writes all.
    `stateful`: some operator has state then. `identity` is its id for the tables that it fills, `release` gives its
    checkpoint back when it has ended.
    """

    build: Callable[[], DataStreamWriter]
    checkpoint: Place | None = None
    endless: bool = False
    final: bool = False
    sources: tuple[Source, ...] = ()
    idle_advance: bool = False
    keeps_late: bool = False
    count_missing_files: bool = False
    interval: int = 0
    name: str = ""
    label: str = ""
    beside: bool = False
    report: Report | None = None
    looks_up: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    logged: tuple[str, ...] = ()
    limit: int | None = None
    offset: int = 0
    stateful: bool = False
    pace: int = PACE
    between_windows: int = 0
    real_time: int = 0
    identity: str = field(default_factory=new_identity)
    release: Callable[[], None] = lambda: None

    @property
    def paced(self) -> bool:
        """Whether the driver says when its micro-batches start."""
        return self.endless and self.pace > 0 and not self.interval and not self.real_time

    @property
    def closes(self) -> bool:
        """Whether the end of its input is the end of time."""
        return not self.endless and (self.final or self.checkpoint is None)

    @property
    def leaves_open(self) -> bool:
        """Whether the end of its run leaves windows open."""
        return not self.endless and not self.closes and not self.beside

    def ends_at_once(self, writer: DataStreamWriter) -> bool:
        """Whether its input ends in the run that reads it. `writer` is its own."""
        known = not any(source.snapshot for source in self.sources) or topics_can_end(writer)
        return self.closes and known and not of_connect(writer)

    def ends_with_first(self, writer: DataStreamWriter) -> bool:
        """Whether the first micro-batch of its only run reads all input, and its end. `writer` is its own."""
        return self.checkpoint is None and self.ends_at_once(writer) and reads_all_at_once(writer)

    def writer(self, checkpoint: Place) -> DataStreamWriter:
        """Its writer, with its checkpoint, name and, if it is endless, trigger set."""
        built = self.build()
        refuse_functions(built)
        writer = built.option("checkpointLocation", for_spark(checkpoint / "spark"))
        writer = writer.queryName(self.name) if self.name else writer
        if self.endless and self.real_time:
            lasting = {"realTime": f"{self.real_time} milliseconds"}
            made: DataStreamWriter = writer.outputMode("update").trigger(**lasting)
            return made
        if self.paced and not of_connect(writer):
            return writer.trigger(processingTime=TRIGGER)
        every = self.interval if self.endless else 0
        return writer.trigger(processingTime=f"{every} milliseconds") if every else writer
