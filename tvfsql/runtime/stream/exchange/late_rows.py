"""Late output: rows that are late for all their windows leave the operator beside the rows of the query.

Such output rows are NULL except for `$late`, a struct of the late row and one window that it missed. Source:
semantics.md#late-rows. Like a window function, it copies each row once per window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from tvfsql.plan.columns import LATE, WINDOW_COLUMNS
from tvfsql.runtime.arrow.columns import Ints, lengths, lists, structs
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.merge.kernel import TIMESTAMP
from tvfsql.runtime.merge.session_merge import Intervals
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.time.slice_clock import Span
from tvfsql.runtime.stream.time.zones import times_of

Layout = TypeVar("Layout", bound=SliceRows | Intervals)


@dataclass(frozen=True)
class LateRows(Generic[Layout]):
    """Slices or intervals with one more partial at the end: a list of their rows. It is removed before they go into
    state."""

    layout: Layout

    @property
    def wide(self) -> Layout:
        """The layout with the list of rows."""
        return replace(self.layout, merges=(*self.layout.merges, (LATE, "concat")))

    def without(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch without the list of rows."""
        return batch.drop_columns([LATE])

    def of_slices(self: LateRows[SliceRows], batch: pa.RecordBatch) -> pa.RecordBatch:
        """The slice numbers and rows of late slices, as `missed_windows` takes them."""
        return pa.RecordBatch.from_arrays(
            [pa.array(self.wide.slices(batch)), batch.column(LATE)], names=["slice", "rows"]
        )


def missed_windows(span: Span, late: pa.RecordBatch, zone: str = "") -> pa.StructArray:
    """Each late row with each window that it missed: a struct array of its fields and WINDOW_COLUMNS (timestamp_ntz).

    With `zone`, the zone of the windows' wall clock, window_time is a timestamp.
    """
    rows = lists(late.column("rows"))
    slices: Ints = np.repeat(late.column("slice").to_numpy(), lengths(rows))
    ends = [np.arange(span.first(n), span.last(n) + 1, span.stride) for n in map(int, slices)]
    at = np.repeat(np.arange(len(slices)), [len(of_row) for of_row in ends])
    numbers = np.concatenate(ends) if ends else np.zeros(0, dtype=np.int64)
    end_ms = span.ends(numbers)
    start_ms = np.array([span.window.window_start(int(end)) for end in end_ms], dtype=np.int64)
    return with_window(structs(rows.flatten()).take(pa.array(at)), start_ms * 1000, end_ms * 1000, zone)


def with_window(rows: pa.StructArray, starts: Ints, ends: Ints, zone: str) -> pa.StructArray:
    """Structs with the fields WINDOW_COLUMNS added. `starts` and `ends` of the windows are epoch microseconds."""
    times = [pa.array(micros).view(TIMESTAMP) for micros in (starts, ends, ends - 1000)]
    if zone:
        times[2] = pa.array(times_of(ends // 1000 - 1, zone) * 1000, pa.timestamp("us", "UTC"))
    return pa.StructArray.from_arrays([*rows.flatten(), *times], names=[*(f.name for f in rows.type), *WINDOW_COLUMNS])


def in_time(rows: DataFrame) -> DataFrame:
    """The rows of the query, without late rows."""
    return rows.where(column_of(LATE).isNull()).drop(LATE)


def late_rows(rows: DataFrame, columns: Sequence[str]) -> DataFrame:
    """The `columns` of the late rows, without the rows of the query."""
    late = rows.where(column_of(LATE).isNotNull())
    return late.select(*(column_of(LATE).getField(name).alias(name) for name in columns))
