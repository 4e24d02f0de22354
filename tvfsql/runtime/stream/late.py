"""Rows that came too late for every window of theirs, kept: where they go, beside the rows of the query.

They leave the window operator as rows that are NULL but for `$late`, a struct of the row and of one window that it
missed. Source: semantics.md e.3; the shape is that of the window function, which copies each row per window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from tvfsql.runtime.columns import Ints
from tvfsql.runtime.expressions import column_of
from tvfsql.runtime.intervals import Intervals
from tvfsql.runtime.kernel import TIMESTAMP
from tvfsql.runtime.stream.slice_rows import SliceRows
from tvfsql.runtime.stream.spans import Span
from tvfsql.runtime.stream.zones import times_of

LATE = "$late"
WINDOW = ("window_start", "window_end", "window_time")
Layout = TypeVar("Layout", bound=SliceRows | Intervals)


@dataclass(frozen=True)
class LateRows(Generic[Layout]):
    """Slices, or intervals, with one more partial, last: a list of the rows that went in. It leaves before they go into
    state."""

    layout: Layout

    @property
    def wide(self) -> Layout:
        return replace(self.layout, merges=(*self.layout.merges, (LATE, "concat")))

    def without(self, batch: Any) -> Any:
        return batch.drop_columns([LATE])

    def of(self: LateRows[SliceRows], batch: Any) -> Any:
        """The slice and the rows of late slices: what `missed` takes."""
        return pa.RecordBatch.from_arrays(
            [pa.array(self.wide.slices(batch)), batch.column(LATE)], names=["slice", "rows"]
        )


def missed(span: Span, late: Any, zone: str = "") -> Any:
    """Each late row with each window that holds it: a struct column of its fields and WINDOW (timestamp_ntz; with
    `zone`, whose wall clock they are on, window_time is a timestamp)."""
    lists = late.column("rows")
    slices: Ints = np.repeat(late.column("slice").to_numpy(), lengths(lists))
    ends = [np.arange(span.first(n), span.last(n) + 1, span.stride) for n in map(int, slices)]
    at = np.repeat(np.arange(len(slices)), [len(of_row) for of_row in ends])
    numbers = np.concatenate(ends) if ends else np.zeros(0, dtype=np.int64)
    end_ms = span.ends(numbers)
    start_ms = np.array([span.window.window_start(int(end)) for end in end_ms], dtype=np.int64)
    return with_window(lists.flatten().take(pa.array(at)), start_ms * 1000, end_ms * 1000, zone)


def lengths(lists: Any) -> Ints:
    """How many rows are in each list."""
    counts: Ints = pc.fill_null(lists.value_lengths(), 0).to_numpy()
    return counts


def with_window(rows: Any, starts: Ints, ends: Ints, zone: str) -> Any:
    """Structs with WINDOW as more fields; the window's start and end are epoch microseconds."""
    times = [pa.array(micros).view(TIMESTAMP) for micros in (starts, ends, ends - 1000)]
    if zone:
        times[2] = pa.array(times_of(ends // 1000 - 1, zone) * 1000, pa.timestamp("us", "UTC"))
    return pa.StructArray.from_arrays([*rows.flatten(), *times], names=[*(f.name for f in rows.type), *WINDOW])


def in_time(rows: DataFrame) -> DataFrame:
    """The rows of the query, without the late ones."""
    return rows.where(column_of(LATE).isNull()).drop(LATE)


def late_rows(rows: DataFrame, columns: Sequence[str]) -> DataFrame:
    """The late rows, their `columns`."""
    late = rows.where(column_of(LATE).isNotNull())
    return late.select(*(column_of(LATE).getField(name).alias(name) for name in columns))
