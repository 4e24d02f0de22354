"""The history of a table in front of its live rows: read in batch before the stream starts, kept in the checkpoint, and
read from there in the first micro-batch.

`history/1.json` in the checkpoint says that the first history of the stream has been read, and names the folder with
its slices. Whatever a killed run has written before is in a folder that no file names. From then on the slices are a
source of files: Spark remembers which of them it has read. Source: docs/streams.md#history-then-live.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from uuid import uuid4

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tvfsql.errors import DataError
from tvfsql.plan.columns import CHANNEL, CONTROL
from tvfsql.plan.window import Window
from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import Place, for_spark
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.merge.partials import Merge
from tvfsql.runtime.stream.backfill.aggregated import aggregated
from tvfsql.runtime.stream.time.execution import Execution, built_for
from tvfsql.runtime.stream.time.valve import ALL

FOLDER = "history"  # in the checkpoint
POLL = 0.2  # seconds between two looks at whether the stream is to stop
Read = Callable[[SparkSession], DataFrame]


@dataclass(frozen=True)
class Past:
    """The rows of a history, as rows of the operator's input without watermarks, and what Spark observes meanwhile: the
    number of `rows` that it reads, and the largest `watermark` (epoch ms) among them.
    """

    slices: DataFrame
    observed: Observation
    channels: str

    def last_watermark(self) -> DataFrame | None:
        """The control row that follows the slices: all channels of the stream have reached the watermark. None: no row
        had one.
        """
        watermark = self.observed.get["watermark"]
        if watermark is None:
            return None
        one = self.slices.sparkSession.range(0, 1, 1, 1)
        return one.select(F.lit(watermark).cast("bigint").alias(CONTROL), F.lit(f"{self.channels}{ALL}").alias(CHANNEL))


class Interrupted(Exception):
    """The stream is to stop, before its history has been read."""


@dataclass
class Backfill:
    """The histories of a stream, which are kept in the folder `place`. `rows`: how many rows this run has read."""

    place: Place
    stopping: Callable[[], bool] = lambda: False
    rows: int = 0
    begun: int = field(default=0, repr=False)

    def slices(self, spark: SparkSession, past: Callable[[], Past]) -> DataFrame:
        """The slices of the next history, as a stream of files. They are made unless the checkpoint has them. Raises
        DataError if it is damaged, and Interrupted.
        """
        self.begun += 1
        file = self.place / f"{self.begun}.json"
        text = file.read()
        if text is None:
            self.place.make()
            text = self._keep(spark, past(), f"{self.begun}-{uuid4().hex[:12]}")
            file.write(text)
        try:
            told = json.loads(text)
            schema, folder = T.StructType.fromJson(told["schema"]), self.place / told["folder"]
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"the checkpoint is damaged: {file} does not describe a history", hint="choose a new folder"
            ) from error
        return spark.readStream.schema(schema).parquet(for_spark(folder))

    def _keep(self, spark: SparkSession, past: Past, name: str) -> str:
        """Write the slices into a new folder. Returns what its file says."""
        to = for_spark(self.place / name)
        marks = T.StructType([T.StructField(CONTROL, T.LongType()), T.StructField(CHANNEL, T.StringType())])

        def write() -> None:
            past.slices.write.parquet(to)
            control = past.last_watermark()
            if control is not None:
                control.write.mode("append").parquet(to)

        _run(spark, write, self.stopping)
        rows = int(past.observed.get["rows"])
        self.rows += rows
        schema = T.StructType([*past.slices.schema.fields, *marks.fields])
        return json.dumps({"folder": name, "rows": rows, "schema": schema.jsonValue()}, indent=2) + "\n"


def with_history(
    live: DataFrame,
    history: Mapping[str, Read],
    window: Window,
    *,
    time: str,
    keys: Sequence[str],
    merges: Mapping[str, Merge],
    zone: str = "",
    zeros: Sequence[str] = (),
) -> DataFrame:
    """The input of a window operator, and the slices of histories, which come in the first micro-batch.

    `history`: functions that return, in batch, the same columns for the rows of a history, by the name prefix of the
    channels of its stream. When it has been read, all these channels have its largest watermark. Slices that were made
    for an earlier version of the query may lack partials: NULL, or 0 for the counts in `zeros`. Raises DataError if
    `run_streams` has not started the stream.
    """
    kept, spark = _backfill.get(), live.sparkSession
    if kept is None:
        raise DataError("a stream with a history needs its checkpoint", hint="start it with run_streams, or a Session")
    for channels, read in history.items():

        def past(channels: str = channels, read: Read = read) -> Past:
            with built_for(_Batch()):
                rows = read(spark)
            observed = Observation()
            slices = aggregated(rows, window, observed, time=time, keys=keys, merges=merges, zone=zone)
            return Past(slices, observed, channels)

        rows = kept.slices(spark, past)
        lacking = (name for name in zeros if name not in rows.columns)
        rows = rows.select("*", *(F.lit(0).cast("bigint").alias(name) for name in lacking))
        own = F.when(column_of(CONTROL).isNull(), F.lit(channels or None)).otherwise(column_of(CHANNEL))
        live = live.unionByName(rows.withColumn(CHANNEL, own), allowMissingColumns=True)
    return live


@contextmanager
def backfilling(kept: Backfill) -> Iterator[None]:
    """Queries that are built inside this block have their histories there."""
    token = _backfill.set(kept)
    try:
        yield
    finally:
        _backfill.reset(token)


_backfill: ContextVar[Backfill | None] = ContextVar("backfill", default=None)


class _Batch(Execution):
    """Execution of the batch query over a history, which has no control channel."""

    def control_rows(self, spark: SparkSession) -> DataFrame | None:
        return None


def _run(spark: SparkSession, work: Callable[[], None], stopping: Callable[[], bool]) -> None:
    """Do some work with Spark. It is cancelled if the stream is to stop; this raises Interrupted then."""
    tag, failures = f"tvfsql-history-{uuid4().hex}", list[BaseException]()
    connected = of_connect(spark)

    def body() -> None:
        try:
            (spark.addTag if connected else spark.sparkContext.addJobTag)(tag)
            work()
        except BaseException as error:
            failures.append(error)

    worker = threading.Thread(target=body, name="tvfsql-history", daemon=True)
    worker.start()
    while worker.is_alive() and not stopping():
        worker.join(POLL)
    while worker.is_alive():  # again and again, as it may be between two jobs
        (spark.interruptTag if connected else spark.sparkContext.cancelJobsWithTag)(tag)
        worker.join(1)
    if stopping():
        raise Interrupted
    if failures:
        raise failures[0]
