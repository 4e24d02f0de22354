"""What OVER keeps of rows for later frames: key, time and partials; and the results of frames over such rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tvfsql.plan.aggregate.chosen_values import Counted, MostFrequent, Quantiles
from tvfsql.plan.over import Frame
from tvfsql.runtime.arrow.batches import changes_in, key_codes, sort_order
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.merge.kernel import TIMESTAMP
from tvfsql.runtime.merge.partials import Merge, prepare
from tvfsql.runtime.merge.ranges import Blocks, Partial, Ranges
from tvfsql.runtime.merge.scans import OrderedRows
from tvfsql.runtime.stream.exchange.rows_by_key import HASH

TIME = "$time"  # in kept rows: the time in epoch microseconds

Part = tuple[Frame, tuple[tuple[int, str, Merge], ...]]


@dataclass(frozen=True)
class KeptRows:
    """The rows that are kept of others, whose `keys` and `time` are the columns with these numbers."""

    keys: tuple[int, ...]
    time: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the key columns."""
        return tuple(f"k{i}" for i in self.keys)

    def of(self, rows: pa.RecordBatch, parts: Sequence[Part]) -> pa.RecordBatch:
        """What the frames `parts` need of rows: hash, key, TIME and partials, under the numbers of columns. The
        partials of frames without a bound are those of merged rows."""
        micros = rows.column(self.time).cast(TIMESTAMP).view(pa.int64())
        keys = zip(self.names, (rows.column(i) for i in self.keys), strict=True)
        columns = {HASH: rows.column(HASH), **dict(keys), TIME: micros}
        for frame, partials in parts:
            for number, name, kind in partials:
                column = rows.column(number)
                columns[str(number)] = merged_rows(kind, name, column) if frame.start is None else column
        return pa.RecordBatch.from_pydict(columns)

    def codes(self, rows: pa.RecordBatch) -> Ints:
        """A number for the key of each kept row."""
        return key_codes([rows.column(name) for name in self.names], rows.num_rows)

    def in_order(self, rows: pa.RecordBatch, *, by_time: bool = False) -> tuple[Ints, OrderedRows]:
        """The positions of kept rows by key, those of a key in their order, or `by_time`; and the
        rows in that order."""
        codes, micros = self.codes(rows), rows.column(TIME).to_numpy()
        order = sort_order([codes, micros] if by_time else [codes])
        return order, OrderedRows(changes_in(codes[order]), micros[order])


def results(
    kept: pa.RecordBatch,
    order: Ints,
    ordered: OrderedRows,
    places: Ints,
    parts: Sequence[Part],
    *,
    slots: bool = False,
) -> dict[int, pa.Array]:
    """The merged partials of the frames of some rows, by the number of the partial. The rows are at the rising `places`
    of kept rows in `order`. A frame without rows has NULL."""
    made = {}
    for frame, partials in parts:
        blocks = ordered.blocks(frame, slots=slots)
        ranges = ordered.ranges(frame, blocks, places, slots=slots)
        for number, name, kind in partials:
            column = kept.column(str(number)).take(pa.array(order))
            made[number] = _of_frames(prepare(kind, name, column, blocks), ranges)
    return made


def _of_frames(partial: Partial, ranges: Ranges) -> pa.Array:
    some = np.flatnonzero(ranges.lo < ranges.hi)
    if len(some) == len(ranges):
        return partial.of_windows(ranges)
    at = np.zeros(len(ranges), dtype=np.int64)
    at[some] = np.arange(len(some))
    return partial.of_windows(ranges.at(some)).take(pa.array(at, mask=ranges.lo >= ranges.hi))


def merged_rows(kind: Merge, name: str, column: pa.Array) -> pa.Array:
    """The partials of single rows in the type of merged ones."""
    alike = kind in ("min", "max", "first", "last") or isinstance(kind, Counted | Quantiles | MostFrequent)
    if alike or (kind == "sum" and column.type in (pa.int64(), pa.float64())):
        return column
    blocks = Blocks(np.ones(len(column), dtype=np.bool_))
    return prepare(kind, name, column, blocks).over(Ranges.of_blocks(blocks))
