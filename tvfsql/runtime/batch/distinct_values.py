"""Distinct values of sliding windows, without a set per window.

A value is in the windows from each slice that contains it until the window size has passed. Slices no further apart
than that are a session of the value whose gap is the window size: the value enters the windows when the session starts,
and leaves them when it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegralType, LongType, StructField, StructType, TimestampNTZType

from tvfsql.errors import DataError
from tvfsql.plan.tables.internal_columns import SLICE_END
from tvfsql.plan.window import Cumulate, Hop, Session
from tvfsql.runtime.arrow.columns import integers
from tvfsql.runtime.batch.session_windows import MergeSessions, intervals_in_order, local_sessions
from tvfsql.runtime.frames.column_names import column_of, interval_of
from tvfsql.runtime.merge.session_merge import Intervals


def distinct_changes(
    values: DataFrame, window: Hop | Cumulate, *, keys: Sequence[str], count: str, total: str | None = None
) -> DataFrame:
    """The change of the number (and the sum) of distinct values from slice to slice.

    In: `keys`, `value`, `slice_end` (timestamp_ntz), without NULL values. A row may repeat.
    Out: `keys`, `slice_end`, `count` (bigint) and, if requested, `total` (the sum of values). Each is the change at
    that slice, so its running sum at the end of a window is the window's distinct count (merge kind `running`). A key
    and slice may have several rows.
    HOP: a value counts in the windows from each slice that contains it until the next such slice, or until the window
    size has passed. CUMULATE: from its first slice in the cycle. Source: architecture.md#slices.
    """
    kind = values.schema["value"].dataType
    if isinstance(kind, IntegralType):
        values = values.withColumn("value", F.col("value").cast("bigint"))  # an INT has no -(-2147483648)
    if isinstance(window, Cumulate):
        return _first_of_cycles(values, window, keys, count, total)
    fields = [*(values.schema[key] for key in keys), StructField(SLICE_END, TimestampNTZType())]
    fields += [StructField(count, LongType())]
    fields += [StructField(total, values.schema["value"].dataType)] if total is not None else []
    of_value, session = (*keys, "value"), Session(window.size)
    sessions = local_sessions(values, session, time=SLICE_END, keys=of_value, merges={})
    changes = DistinctChanges(MergeSessions(Intervals(len(of_value), (), window.size)), total is not None)
    return intervals_in_order(sessions, of_value).mapInArrow(changes, StructType(fields))


def _first_of_cycles(
    values: DataFrame, window: Cumulate, keys: Sequence[str], count: str, total: str | None
) -> DataFrame:
    """`distinct_changes` of CUMULATE."""
    columns = [column_of(key) for key in keys]
    cycle = F.window(
        F.col(SLICE_END) - interval_of(1),
        f"{window.size} milliseconds",
        startTime=f"{window.offset % window.size} milliseconds",
    )
    first = values.groupBy(*columns, "value", cycle).agg(F.min(SLICE_END).alias(SLICE_END))
    sums = [F.count("*").alias(count)]
    sums += [F.sum("value").alias(total)] if total is not None else []
    return first.groupBy(*columns, SLICE_END).agg(*sums)


@dataclass(frozen=True)
class DistinctChanges:
    """The function for `mapInArrow` after the exchange: what the sessions of values change in the windows.

    In: what `sessions` takes, whose keys are the key columns and the value, and whose gap is the window size.
    Out: the key columns, a slice end (timestamp[us]), and the change of the number of distinct values there (int64):
    1 where a value enters the windows, -1 where it leaves them. With `total` also the value, negated where it leaves
    (int64 or decimal). A key and slice end may have several rows.
    """

    sessions: MergeSessions
    total: bool = False

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for windows in self.sessions(batches):
            yield from self._changes(*windows.columns)

    def _changes(self, *windows: pa.Array) -> Iterator[pa.RecordBatch]:
        *keys, values, starts, ends = windows
        columns = {str(i): pa.concat_arrays([key, key]) for i, key in enumerate(keys)}
        columns["end"] = pa.concat_arrays([starts, ends])
        names = list(columns)
        columns["change"] = pa.array(np.repeat(np.array([1, -1], dtype=np.int64), len(values)))
        if self.total:
            columns["total"] = pa.concat_arrays([values, _negative(values)])
        changed = pa.table(columns)
        if not self.total and not any(pa.types.is_nested(column.type) for column in changed.schema):
            counted = changed.group_by(names, use_threads=False).aggregate([("change", "sum")]).combine_chunks()
            if counted.num_rows:
                changed = counted.take(pa.array(np.flatnonzero(integers(counted.column("change_sum").chunk(0)))))
            changed = changed.select([*names, changed.column_names[-1]])
        yield from changed.to_batches()


def _negative(values: pa.Array) -> pa.Array:
    try:
        return pc.negate_checked(values)
    except pa.ArrowInvalid:
        raise DataError("SUM(DISTINCT) overflows BIGINT", hint="SUM(DISTINCT CAST(... AS DECIMAL(38, 0)))") from None
