"""Session windows of a batch as DataFrame operations, which emitted code calls for SESSION."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tvfsql.plan.tables.internal_columns import INTERVAL_LAST, INTERVAL_START
from tvfsql.plan.window import Session
from tvfsql.runtime.arrow.columns import normal
from tvfsql.runtime.frames.assigned_windows import local_time
from tvfsql.runtime.frames.column_names import column_of, interval_of
from tvfsql.runtime.frames.window_schema import merged_type
from tvfsql.runtime.merge.kernel import CHUNK_BYTES, CHUNK_ROWS, Feed
from tvfsql.runtime.merge.partials import Merge
from tvfsql.runtime.merge.session_merge import TIMESTAMP, Intervals, of_rows

OUT_ROWS = 50_000
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
    rows: DataFrame, window: Session, *, time: str, keys: Sequence[str], name: str, zone: str = ""
) -> DataFrame:
    """Each row with its session as the column `name`, a struct<start, end> (timestamp_ntz)."""
    at: Column = local_time(time, zone) if zone else column_of(time)
    of_key = Over.partitionBy(*map(column_of, keys))
    in_order = of_key.orderBy(at)
    opens = F.coalesce(at > F.lag(at).over(in_order) + interval_of(window.gap), F.lit(True))
    numbered = rows.withColumn("$session", F.sum(opens.cast("int")).over(in_order))
    of_session = Over.partitionBy(*map(column_of, keys), column_of("$session"))
    start, last = F.min(at).over(of_session), F.max(at).over(of_session)
    bounds = F.struct(start.alias("start"), (last + interval_of(window.gap)).alias("end"))
    return numbered.withColumn(name, bounds).drop("$session")


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
