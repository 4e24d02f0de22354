"""Late output: rows that are late for all their windows leave the operator beside the rows of the query.

`$late` of a row is a struct with a field for each table of late rows. One of them is not NULL: a struct of the table's
columns. A late row leaves its operator as a control row, which is NULL in every other column, once per window that it
missed; operators above pass it on. Source: semantics.md#late-rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from tvfsql.plan.tables.internal_columns import CONTROL, LATE, MARKS, WINDOW_COLUMNS, WINDOW_NAME
from tvfsql.runtime.arrow.columns import Ints, lengths, lists, structs
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.merge.kernel import TIMESTAMP
from tvfsql.runtime.merge.session_merge import Intervals
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.time.slice_clock import Span
from tvfsql.runtime.stream.time.zones import times_of

LATES = "$lates"  # the partial with the rows of a slice or an interval
Layout = TypeVar("Layout", bound=SliceRows | Intervals)


@dataclass(frozen=True)
class LateRows(Generic[Layout]):
    """Slices or intervals with one more partial at the end: a list of their rows. It is removed before they go into
    state."""

    layout: Layout

    @property
    def wide(self) -> Layout:
        """The layout with the list of rows."""
        return replace(self.layout, merges=(*self.layout.merges, (LATES, "concat")))

    def without(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch without the list of rows."""
        return batch.drop_columns([LATES])

    def of_slices(self: LateRows[SliceRows], batch: pa.RecordBatch) -> pa.RecordBatch:
        """The slice numbers and rows of late slices, as `missed_windows` takes them."""
        return pa.RecordBatch.from_arrays(
            [pa.array(self.wide.slices(batch)), batch.column(LATES)], names=["slice", "rows"]
        )


def missed_windows(span: Span, late: pa.RecordBatch, zone: str = "", name: str = "") -> pa.StructArray:
    """Each late row once per window that it missed. `zone`: that of the windows' wall clock. `name`: which of several
    they are."""
    rows = lists(late.column("rows"))
    slices: Ints = np.repeat(late.column("slice").to_numpy(), lengths(rows))
    ends = [np.arange(span.first(n), span.last(n) + 1, span.stride) for n in map(int, slices)]
    at = np.repeat(np.arange(len(slices)), [len(of_row) for of_row in ends])
    numbers = np.concatenate(ends) if ends else np.zeros(0, dtype=np.int64)
    end_ms = span.ends(numbers)
    start_ms = np.array([span.window.window_start(int(end)) for end in end_ms], dtype=np.int64)
    return with_window(structs(rows.flatten()).take(pa.array(at)), start_ms * 1000, end_ms * 1000, zone, name)


def with_window(rows: pa.StructArray, starts: Ints, ends: Ints, zone: str, name: str = "") -> pa.StructArray:
    """Late rows with their windows, in those columns of their tables. `starts` and `ends` are epoch microseconds."""
    lasts = ends - 1000
    instants = times_of(lasts // 1000, zone) * 1000 if zone else lasts
    windows = dict(zip(WINDOW_COLUMNS, (starts, ends, lasts), strict=True))

    def filled(table: pa.StructArray) -> pa.StructArray:
        columns = []
        for part, column in zip(table.type, table.flatten(), strict=True):
            if part.name in windows:
                of_zone = part.name == "window_time" and part.type != TIMESTAMP
                column = pa.array(instants if of_zone else windows[part.name]).view(TIMESTAMP).cast(part.type)
            elif name and part.name == WINDOW_NAME:
                column = pa.repeat(pa.scalar(name, part.type), len(table))
            columns.append(column)
        return pa.StructArray.from_arrays(columns, fields=[*table.type], mask=table.is_null())

    tables = [filled(structs(table)) for table in rows.flatten()]
    return pa.StructArray.from_arrays(tables, fields=[*rows.type])


def in_time(rows: DataFrame) -> DataFrame:
    """The rows of the query, without late rows and other control rows."""
    return rows.where(column_of(CONTROL).isNull()).drop(LATE, *MARKS)


def late_rows(rows: DataFrame, table: str, columns: Sequence[str]) -> DataFrame:
    """The late rows of a table, with its `columns`; without the rows of the query."""
    of_table = column_of(LATE).getField(table)
    late = rows.where(column_of(CONTROL).isNotNull() & of_table.isNotNull())
    return late.select(*(of_table.getField(name).alias(name) for name in columns))
