"""Rows that came too late for every window of theirs, kept: where they go, beside the rows of the query.

They leave the window operator as rows that are NULL but for `$late`, a struct of the row and of one window that it
missed. Source: semantics.md e.3; the shape is that of the window function, which copies each row per window.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tvfsql.runtime.columns import Ints
from tvfsql.runtime.expressions import column_of
from tvfsql.runtime.kernel import TIMESTAMP
from tvfsql.runtime.stream.slice_rows import SliceRows
from tvfsql.runtime.stream.spans import Span
from tvfsql.runtime.stream.zones import times_of

LATE = "$late"
WINDOW = ("window_start", "window_end", "window_time")
Write = Callable[[DataFrame, int], None]  # what writes the rows of a micro-batch, given its number


@dataclass(frozen=True)
class LateRows:
    """Slices with one more partial, last: a list of the rows that went in. It leaves before slices go into state."""

    layout: SliceRows

    @property
    def wide(self) -> SliceRows:
        return SliceRows(self.layout.keys, (*self.layout.merges, (LATE, "concat")))

    def without(self, batch: Any) -> Any:
        return batch.drop_columns([LATE])

    def of(self, batch: Any) -> Any:
        """The slice and the rows of late slices: what `missed` takes."""
        return pa.RecordBatch.from_arrays(
            [pa.array(self.wide.slices(batch)), batch.column(LATE)], names=["slice", "rows"]
        )


def missed(span: Span, late: Any, zone: str = "") -> Any:
    """Each late row with each window that holds it: a struct column of its fields and WINDOW (timestamp_ntz; with
    `zone`, whose wall clock they are on, window_time is a timestamp)."""
    lists = late.column("rows")
    rows = lists.flatten()
    slices: Ints = np.repeat(late.column("slice").to_numpy(), pc.fill_null(lists.value_lengths(), 0).to_numpy())
    ends = [np.arange(span.first(n), span.last(n) + 1, span.stride) for n in map(int, slices)]
    at = np.repeat(np.arange(len(slices)), [len(of_row) for of_row in ends])
    numbers = np.concatenate(ends) if ends else np.zeros(0, dtype=np.int64)
    end_ms = span.ends(numbers)
    start_ms = np.array([span.window.window_start(int(end)) for end in end_ms], dtype=np.int64)
    times = [pa.array(ms * 1000).view(TIMESTAMP) for ms in (start_ms, end_ms, end_ms - 1)]
    if zone:
        times[2] = pa.array(times_of(end_ms - 1, zone) * 1000, pa.timestamp("us", "UTC"))
    fields = rows.take(pa.array(at)).flatten()
    return pa.StructArray.from_arrays([*fields, *times], names=[*(field.name for field in rows.type), *WINDOW])


def apart(rest: Write, late: Write, columns: Sequence[str]) -> Write:
    """What writes the rows of a micro-batch: late ones, their `columns`, to `late`, the others to `rest`."""

    def write(rows: DataFrame, number: int) -> None:
        held = rows.persist()  # else the windows would be made twice
        try:
            is_late = column_of(LATE).isNotNull()
            late(held.where(is_late).select(*(column_of(LATE).getField(name).alias(name) for name in columns)), number)
            rest(held.where(~is_late).drop(LATE), number)
        finally:
            held.unpersist()

    return write


def count_of_rows(rows: DataFrame) -> Any:
    """The number of rows of the query, late ones left out, as an aggregate."""
    return F.count_if(column_of(LATE).isNull()) if LATE in rows.columns else F.count(F.lit(1))
