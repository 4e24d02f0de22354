"""The history of a table in front of its live rows: read in batch before the stream starts, kept in the checkpoint, and
read from there in the first micro-batch.

`history/1.json` in the checkpoint says that the first history of the stream has been read, and names the folder with
its slices. Whatever a killed run has written before is in a folder that no file names. From then on the slices are a
source of files: Spark remembers which of them it has read. While Spark writes the slices, the stream that reads them is
already built; it starts when they are complete. Source: docs/streams.md#history-then-live.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tvfsql.errors import DataError
from tvfsql.plan.aggregate.chosen_values import Counted, MostFrequent, Quantiles
from tvfsql.plan.aggregate.top_rows import TopRows
from tvfsql.plan.tables.internal_columns import CHANNEL, CONTROL, WATERMARK
from tvfsql.plan.window import Session, TumbleMonths, Window
from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import Place, for_spark
from tvfsql.runtime.frames.assigned_windows import local_time, month_windows
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.merge.partials import Merge
from tvfsql.runtime.stream.time.execution import Execution, built_for
from tvfsql.runtime.stream.time.valve import ALL

FOLDER = "history"  # in the checkpoint
CONTROL_ROW = "watermark.parquet"  # in the folder of slices
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

    @property
    def schema(self) -> T.StructType:
        """The schema of the slices, and of the control row that follows them."""
        marks = [T.StructField(CONTROL, T.LongType()), T.StructField(CHANNEL, T.StringType())]
        return T.StructType([*self.slices.schema.fields, *marks])

    def write(self, folder: Place) -> None:
        """Write the slices into a folder, and then the control row: all channels of the stream have reached the
        watermark. If no row had a watermark, no control row is written.
        """
        self.slices.write.mode("append").parquet(for_spark(folder))
        watermark = self.observed.get["watermark"]
        if watermark is not None:
            (folder / CONTROL_ROW).write(_control_row(int(watermark), f"{self.channels}{ALL}"))


class Interrupted(Exception):
    """The stream is to stop, before its history has been read."""


@dataclass
class Backfill:
    """The histories of a stream, which are kept in the folder `place`. `rows`: how many rows this run has read."""

    place: Place
    stopping: Callable[[], bool] = lambda: False
    rows: int = 0
    begun: int = field(default=0, repr=False)
    reading: list[tuple[Place, str, Past, Work]] = field(default_factory=list, repr=False)

    def slices(self, spark: SparkSession, past: Callable[[], Past]) -> DataFrame:
        """The slices of the next history, as a stream of files. Unless the checkpoint has them, Spark begins to write
        them; the stream may start after `finish`. Raises DataError if the checkpoint is damaged.
        """
        self.begun += 1
        file = self.place / f"{self.begun}.json"
        text = file.read()
        if text is None:
            name, made = f"{self.begun}-{uuid4().hex[:12]}", past()
            folder, schema = self.place / name, made.schema
            folder.make()
            self.reading.append((file, name, made, Work(spark, partial(made.write, folder))))
        else:
            try:
                told = json.loads(text)
                folder, schema = self.place / told["folder"], T.StructType.fromJson(told["schema"])
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(
                    f"the checkpoint is damaged: {file} does not describe a history", hint="choose a new folder"
                ) from error
        return spark.readStream.schema(schema).parquet(for_spark(folder))

    def finish(self) -> None:
        """Wait until all slices are written, and note them in the checkpoint. Raises Interrupted, and the exceptions of
        Spark.
        """
        for file, name, past, work in self.reading:
            work.wait(self.stopping)
            rows = int(past.observed.get["rows"])
            self.rows += rows
            told = {"folder": name, "rows": rows, "schema": past.schema.jsonValue()}
            file.write(json.dumps(told, indent=2) + "\n")

    def cancel(self) -> None:
        """End what `finish` has not waited for."""
        for *_, work in self.reading:
            work.cancel()


class Work:
    """Work with Spark that has begun in a thread of its own. All its jobs have a tag, by which they are cancelled."""

    def __init__(self, spark: SparkSession, work: Callable[[], None]) -> None:
        self.spark, self.work = spark, work
        self.tag, self.failures = f"tvfsql-history-{uuid4().hex}", list[BaseException]()
        self.thread = threading.Thread(target=self._body, name="tvfsql-history", daemon=True)
        self.thread.start()

    def wait(self, stopping: Callable[[], bool]) -> None:
        """Wait for its end, and raise its exception. If `stopping`, it is cancelled; this raises Interrupted then."""
        while self.thread.is_alive() and not stopping():
            self.thread.join(POLL)
        if stopping():
            self.cancel()
            raise Interrupted
        if self.failures:
            raise self.failures[0]

    def cancel(self) -> None:
        """Cancel its jobs, and wait for its end."""
        connected = of_connect(self.spark)
        while self.thread.is_alive():  # again and again, as it may be between two jobs
            (self.spark.interruptTag if connected else self.spark.sparkContext.cancelJobsWithTag)(self.tag)
            self.thread.join(1)

    def _body(self) -> None:
        try:
            (self.spark.addTag if of_connect(self.spark) else self.spark.sparkContext.addJobTag)(self.tag)
            self.work()
        except BaseException as error:
            self.failures.append(error)


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
    """Queries that are built inside this block have their histories there. What is not finished at its end is
    cancelled."""
    token = _backfill.set(kept)
    try:
        yield
    finally:
        _backfill.reset(token)
        kept.cancel()


_backfill: ContextVar[Backfill | None] = ContextVar("backfill", default=None)


class _Batch(Execution):
    """Execution of the batch query over a history, which has no control channel."""

    def control_rows(self, spark: SparkSession) -> DataFrame | None:
        return None


def _control_row(watermark: int, channel: str) -> bytes:
    """A Parquet file with a control row, whose other columns are NULL. Spark would start a job for it."""
    file = BytesIO()
    pq.write_table(pa.table({CONTROL: [watermark], CHANNEL: [channel]}), file)
    return file.getvalue()


# The history of a table, aggregated by Spark to the slices or intervals that a window operator of a stream merges.
#
# A stream starts from partials of single rows (`local_slices`). Partials merge in any order, so the rows of a slice may
# as well be merged by Spark before: the result looks like one row of the stream.


SPAN, TIMELESS = "$span", "$timeless"  # a group of rows that share a slice or a session; rows without a time
MERGED_IN_SPARK = ("sum", "min", "max", "moments", "concat", "bag", "distinct")
FIRST, LAST, ROWS = "$first", "$last", "$rows"


def aggregated(
    rows: DataFrame,
    window: Window,
    observed: Observation,
    *,
    time: str,
    keys: Sequence[str],
    merges: Mapping[str, Merge],
    zone: str = "",
) -> DataFrame:
    """Rows with `keys`, `time`, a partial for each entry of `merges`, and `$watermark`, merged as far as Spark can.

    In: as in `local_slices`. Out: the same columns without watermarks. Of rows without a time nothing is left. A slice
    has one row for each key, at the time of its first row. A session has two rows per gap-sized part of it: the first
    has the partials, the second only shows that the session goes on. Partials that Spark cannot merge (of Python
    aggregates, sketches, pairs of numbers) and those of sessions with a maximum duration stay as they are. Spark
    observes the number of `rows` that it reads, and the largest `watermark` (epoch ms). It observes merged rows where
    it can: each row that it observes costs time.
    """
    chosen = rows.select(*map(column_of, (*keys, time, *merges, WATERMARK)))
    ours = [*map(column_of, keys), column_of(time), *map(column_of, merges)]
    if not all(map(_merges_in_spark, merges.values())) or (isinstance(window, Session) and window.limit):
        return _seen(chosen, observed, F.count(F.lit(1))).where(column_of(time).isNotNull()).select(*ours)
    is_instant = rows.schema[time].dataType == T.TimestampType()
    clock = local_time(time, zone) if zone and is_instant else column_of(time)
    # window() drops rows without a time, but their watermarks count
    some_time = F.coalesce(clock, F.expr("TIMESTAMP_NTZ '1970-01-01 00:00:00'"))
    spans = chosen.withColumns({SPAN: _span(some_time, window), TIMELESS: clock.isNull()})
    groups = spans.groupBy(*map(column_of, (*keys, SPAN, TIMELESS)))
    merged = [_merged(kind, column_of(name)).alias(name) for name, kind in merges.items()]
    merged += [F.max(column_of(WATERMARK)).alias(WATERMARK), F.count(F.lit(1)).alias(ROWS)]
    if not isinstance(window, Session):
        slices = groups.agg(F.min(column_of(time)).alias(time), *merged)
        return _seen(slices, observed, F.sum(ROWS)).where(~column_of(TIMELESS)).select(*ours)
    ends = (F.min_by(column_of(time), clock).alias(FIRST), F.max_by(column_of(time), clock).alias(LAST))
    found = _seen(groups.agg(*ends, *merged), observed, F.sum(ROWS)).where(~column_of(TIMELESS))
    first, last = column_of(FIRST), column_of(LAST)
    # in the hour that clocks repeat, the first one on the clock may be the later instant
    both = F.when(first != last, F.array(first, last)).otherwise(F.array(first))
    partials = (F.when(column_of(time) == first, column_of(name)).alias(name) for name in merges)
    return found.withColumn(time, F.explode(both)).select(*map(column_of, keys), column_of(time), *partials)


def _seen(rows: DataFrame, observed: Observation, count: Column) -> DataFrame:
    of_none = F.coalesce(count, F.lit(0).cast("bigint"))
    return rows.observe(observed, of_none.alias("rows"), F.max(_epoch_ms(rows)).alias("watermark"))


def _epoch_ms(rows: DataFrame) -> Column:
    """The watermark of each row in epoch ms, rounded down."""
    watermark = column_of(WATERMARK)
    if rows.schema[WATERMARK].dataType == T.TimestampType():
        return F.unix_millis(watermark)
    epoch = F.expr("TIMESTAMP_NTZ '1970-01-01 00:00:00'")
    return F.floor(F.timestamp_diff("MICROSECOND", epoch, watermark) / 1000)


def _span(clock: Column, window: Window) -> Column:
    """The end of a row's slice; for sessions, of the part of time as long as the gap, whose rows share a session."""
    if isinstance(window, TumbleMonths):
        return month_windows(clock, window).getField("end")
    width, offset = (window.gap, 0) if isinstance(window, Session) else (window.slice_size, window.offset)
    size, start = f"{width} milliseconds", offset % width
    return F.window(clock, size, size, *([f"{start} milliseconds"] if start else [])).getField("end")


def _merges_in_spark(kind: Merge) -> bool:
    """Whether `_merged` has the merge kind."""
    return kind in MERGED_IN_SPARK or isinstance(kind, TopRows | Quantiles | MostFrequent | Counted)


def _merged(kind: Merge, partial: Column) -> Column:
    """The merged partials of single rows. NULL if all of them are NULL."""
    match kind:
        case "sum":
            return F.sum(partial)
        case "min":
            return F.min(partial)
        case "max":
            return F.max(partial)
        case "moments":  # of single rows: their mean is the value
            value, number = partial.getField("mean"), F.count(partial)
            spread = F.var_pop(value) * number
            found = F.struct(number.alias("n"), F.avg(value).alias("mean"), spread.alias("m2"))
            return F.when(number > 0, found)
        case "concat" | "bag" | TopRows() | Quantiles() | MostFrequent():
            return F.when(F.count(partial) > 0, F.flatten(F.collect_list(partial)))
        case "distinct" | Counted():
            return F.when(F.count(partial) > 0, F.flatten(F.collect_set(partial)))
    raise AssertionError(kind)
