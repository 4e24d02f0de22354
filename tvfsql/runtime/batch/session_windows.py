"""Session windows of a batch as DataFrame operations, which emitted code calls for SESSION."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame, WindowSpec
from pyspark.sql import Window as Over
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tvfsql.plan.tables.internal_columns import INTERVAL_LAST, INTERVAL_START
from tvfsql.plan.window import Session
from tvfsql.runtime.arrow.columns import normal
from tvfsql.runtime.batch.sizes import estimated_bytes
from tvfsql.runtime.frames.assigned_windows import local_time
from tvfsql.runtime.frames.column_names import column_of, interval_of
from tvfsql.runtime.frames.window_schema import merged_type
from tvfsql.runtime.merge.kernel import CHUNK_BYTES, CHUNK_ROWS, Feed
from tvfsql.runtime.merge.partials import Merge
from tvfsql.runtime.merge.session_merge import TIMESTAMP, Intervals, of_rows

OUT_ROWS = 50_000
# The length of a piece of time: long enough for most sessions, and so that a year has at most half a million
PIECE_GAPS, PIECE_MS = 64, 60_000
PIECE_TASKS, PIECES_BYTES = 8, 64 << 20  # measured: 2.7 million rows take one task 5.4 s, pieces 14.5 s on 2 cores
LARGE = 5  # times the rows of a chunk
MANY, NEARLY_ALL = 0.25, 0.9  # the shares of rows that are left when local sessions are merged
PASSED = 9  # chunks that pass after a large one of which nearly all was left


def local_sessions(
    rows: DataFrame, window: Session, *, time: str, keys: Sequence[str], merges: Mapping[str, Merge], zone: str = ""
) -> DataFrame:
    """The rows of each partition, merged to intervals within the partition.

    In: `keys` (NULL and NaN are ordinary keys), `time` (timestamp_ntz, never NULL; with `zone` an instant, which is
    converted to the zone's wall clock), and for each entry of `merges`, whose value is its merge kind
    (`partials.KINDS`), the partial of a single row.
    Out: keys, `$start` and `$last` (timestamp_ntz), merged partials. Sums have the types of Spark's sums.
    """
    is_instant = rows.schema[time].dataType == T.TimestampType()
    clock = local_time(time, zone) if zone and is_instant else column_of(time)
    chosen = rows.select(*map(column_of, keys), clock, *map(column_of, merges))
    layout = Intervals(len(keys), tuple(merges.items()), window.gap, window.limit)
    bounds = [T.StructField(name, T.TimestampNTZType()) for name in (INTERVAL_START, INTERVAL_LAST)]
    return _numbered(chosen).mapInArrow(LocalSessions(layout.kept), _schema(rows.schema, keys, bounds, merges))


def merge_sessions(
    sessions: DataFrame, window: Session, *, keys: Sequence[str], merges: Mapping[str, Merge]
) -> DataFrame:
    """One row per key and session, from the intervals of `local_sessions`.

    Out: keys, window_start (the time of the first row), window_end (the gap after the last row; both timestamp_ntz),
    merged partials. Memory is bounded by a chunk of intervals, however many a key has. An exact sum that overflows
    fails the query with DataError.
    """
    columns = [column_of(name) for name in (*keys, INTERVAL_START, INTERVAL_LAST, *merges)]
    layout = Intervals(len(keys), tuple(merges.items()), window.gap, window.limit)
    bounds = [T.StructField(name, T.TimestampNTZType()) for name in ("window_start", "window_end")]
    ordered = intervals_in_order(sessions.select(*columns), keys)
    return ordered.mapInArrow(MergeSessions(layout), _schema(sessions.schema, keys, bounds, merges))


def intervals_in_order(sessions: DataFrame, keys: Sequence[str]) -> DataFrame:
    """All intervals of a key in one partition, in the order that `MergeSessions` takes. Columns are named by number."""
    spread = sessions.repartition(*(map(column_of, keys) if keys else (1,)))
    return _numbered(spread.sortWithinPartitions(*map(column_of, (*keys, INTERVAL_START))))


def session_windows(
    rows: DataFrame,
    window: Session,
    *,
    time: str,
    keys: Sequence[str],
    name: str,
    zone: str = "",
    in_one_task: bool = False,
) -> DataFrame:
    """Each row with its session as the column `name`, a struct<start, end> (timestamp_ntz).

    Without keys, sessions of many rows are found in pieces of time, in parallel, and those that reach over the end of a
    piece are joined. That takes two passes over the rows, and five times the CPU of one task, which does it for fewer
    rows or cores, and with `in_one_task`.
    """
    at: Column = local_time(time, zone) if zone else column_of(time)
    gap = interval_of(window.gap)
    if keys or in_one_task or not is_worth_pieces(rows):
        made, start, last = _in_groups(rows, at, gap, keys), F.col("$start"), F.col("$last")
    else:
        width = max(PIECE_GAPS * window.gap, PIECE_MS)
        piece = F.window(at, f"{width} milliseconds").getField("start")
        local = _in_groups(rows.withColumn("$piece", piece), at, gap, ["$piece"])
        made = local.join(_edges(local, gap), "$piece", "left")
        start = F.coalesce(F.when(F.col("$start") == F.col("$first"), F.col("$opened")), F.col("$start"))
        last = F.coalesce(F.when(F.col("$last") == F.col("$end"), F.col("$closed")), F.col("$last"))
    bounds = F.struct(start.alias("start"), (last + gap).alias("end"))
    return made.select(*map(column_of, rows.columns), bounds.alias(name))


def is_worth_pieces(rows: DataFrame) -> bool:
    """Whether one task would take longer for the sessions of these rows than all tasks for those of pieces."""
    tasks, known = int(rows.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1), estimated_bytes(rows)
    return tasks >= PIECE_TASKS and (known is None or known >= PIECES_BYTES)


def _in_groups(rows: DataFrame, at: Column, gap: Column, by: Sequence[str]) -> DataFrame:
    """The rows with the times of the first and last row of their session, `$start` and `$last`, among the rows that
    agree in `by`.
    """
    in_order = Over.partitionBy(*map(column_of, by)).orderBy(at)
    opens = F.coalesce(at > F.lag(at).over(in_order) + gap, F.lit(True))
    numbered = rows.withColumn("$session", F.sum(opens.cast("int")).over(in_order))
    of_session = Over.partitionBy(*map(column_of, by), "$session")
    return numbered.withColumns({"$start": F.min(at).over(of_session), "$last": F.max(at).over(of_session)})


def _edges(local: DataFrame, gap: Column) -> DataFrame:
    """A row per piece: its first and last time, `$first` and `$end`, the start of the session that its first row
    belongs to, `$opened`, and the last time of the one that its last row belongs to, `$closed`. One task makes them.
    """
    first, last = F.min("$start").alias("$first"), F.max("$last").alias("$end")
    pieces = local.groupBy("$piece").agg(first, last, F.min("$last").alias("head"), F.max("$start").alias("tail"))
    forth, back = Over.orderBy("$piece"), Over.orderBy(F.col("$piece").desc())
    whole = F.col("head") == F.col("$end")  # all rows of the piece are in one session

    def beyond(own: str, other: str, apart: Column, order: WindowSpec) -> Column:
        """`own` if the session ends in this piece, else `other` of the next one in this order, if it ends there."""
        there = F.when(~F.lag(whole).over(order), F.lag(other).over(order))
        return F.when(F.coalesce(apart, F.lit(True)), F.col(own)).otherwise(there)

    opened = beyond("$first", "tail", F.col("$first") > F.lag("$end").over(forth) + gap, forth)
    closed = beyond("$end", "head", F.lag("$first").over(back) > F.col("$end") + gap, back)
    known = pieces.select("$piece", "$first", "$end", opened.alias("opened"), closed.alias("closed"))
    so_far = (Over.unboundedPreceding, Over.currentRow)
    return known.select(
        *("$piece", "$first", "$end"),
        F.last("opened", ignorenulls=True).over(forth.rowsBetween(*so_far)).alias("$opened"),
        F.last("closed", ignorenulls=True).over(back.rowsBetween(*so_far)).alias("$closed"),
    )


@dataclass(frozen=True)
class LocalSessions:
    """The function for `mapInArrow` before the exchange. In, by position: keys, time, partials of single rows.

    The more rows in a chunk, the more of them merge, so chunks are larger while many are left. Where hardly any merge
    even then, the next chunks pass as intervals of one row each.
    """

    layout: Intervals
    chunk_rows: int = CHUNK_ROWS
    chunk_bytes: int = CHUNK_BYTES

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        feed, passing, large, kinds = Feed(batches), 0, False, list[pa.DataType]()
        while fresh := feed.take(self.chunk_rows * (LARGE if large else 1), self.chunk_bytes):
            rows = [self._intervals(batch) for batch in fresh]
            if passing:
                passing -= 1
                yield from (_as_typed(kinds, _timed(self.layout, batch)) for batch in rows)
                continue
            merged = _timed(self.layout, self.layout.merged(rows))
            kinds = merged.schema.types
            left = merged.num_rows / sum(batch.num_rows for batch in rows)
            passing = PASSED if large and left > NEARLY_ALL else 0
            large = left > MANY
            yield from _out(merged)

    def _intervals(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        keys = self.layout.keys
        of_key = [normal(column) for column in batch.columns[:keys]]
        return of_rows(self.layout, of_key, batch.column(keys), batch.columns[keys + 1 :])


@dataclass(frozen=True)
class MergeSessions:
    """The function for `mapInArrow` after the exchange, on intervals in the order of their keys and starts.

    The last session of a chunk is kept for the next chunk, because an interval there may still extend it.
    """

    layout: Intervals
    chunk_rows: int = CHUNK_ROWS
    chunk_bytes: int = CHUNK_BYTES

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        feed = Feed(self._intervals(batch) for batch in batches)
        held: list[pa.RecordBatch] = []
        while fresh := feed.take(self.chunk_rows, max(self.chunk_bytes, *(batch.nbytes for batch in held), 0)):
            rows = pa.concat_batches([*held, *fresh])
            last = self.layout.last_session(rows)
            yield from _out(self.layout.windows(self.layout.merged_in_order(rows.slice(0, last))))
            held = [self.layout.kept.merged_in_order(rows.slice(last))]
        if held:
            yield self.layout.windows(self.layout.merged_in_order(held[0]))

    def _intervals(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        keys = self.layout.keys
        bounds = [column.cast(TIMESTAMP).view(pa.int64()) for column in batch.columns[keys : keys + 2]]
        return pa.RecordBatch.from_arrays(
            [*batch.columns[:keys], *bounds, *batch.columns[keys + 2 :]], self.layout.names
        )


def _timed(layout: Intervals, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Intervals with their bounds as timestamps."""
    bounds = [column.view(TIMESTAMP) for column in batch.columns[layout.keys : layout.keys + 2]]
    columns = [*batch.columns[: layout.keys], *bounds, *batch.columns[layout.keys + 2 :]]
    return pa.RecordBatch.from_arrays(columns, layout.names)


def _as_typed(kinds: Sequence[pa.DataType], batch: pa.RecordBatch) -> pa.RecordBatch:
    """Intervals of one row each with the types of merged ones: a sum may be wider than what it adds."""
    columns = [column.cast(kind) for column, kind in zip(batch.columns, kinds, strict=True)]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


def _out(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for start in range(0, batch.num_rows, OUT_ROWS):
        yield batch.slice(start, OUT_ROWS)


def _schema(
    of: T.StructType, keys: Sequence[str], bounds: Sequence[T.StructField], merges: Mapping[str, Merge]
) -> T.StructType:
    merged = [T.StructField(name, merged_type(kind, of[name].dataType)) for name, kind in merges.items()]
    return T.StructType([*(T.StructField(name, of[name].dataType) for name in keys), *bounds, *merged])


def _numbered(rows: DataFrame) -> DataFrame:
    # mapInArrow cannot find a column with a dot or a backtick in its name
    return rows.toDF(*map(str, range(len(rows.columns))))
