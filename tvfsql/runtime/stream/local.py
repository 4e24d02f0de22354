"""LocalWindowAggregate of a stream: rows to slices, one payload per key group, and the channel's watermark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tvfsql.plan.window import Window
from tvfsql.runtime.columns import Ints
from tvfsql.runtime.kernel import TIMESTAMP
from tvfsql.runtime.stream.slice_rows import SliceRows, changes_in, sort_order, to_bytes

CHUNK_ROWS = 200_000
CHUNK_BYTES = 128 << 20
OUT = pa.schema([("key_group", pa.int32()), ("watermark", pa.int64()), ("payload", pa.binary())])


@dataclass(frozen=True)
class LocalSlices:
    """What `mapInArrow` runs. In, by position: keys, time, $watermark, $control, key group, partials of single rows.

    Rows without a time (control rows, and rows that a filter left out) are in no slice; their watermarks count.
    Each partition says the largest watermark that it saw to every key group, whether it has rows for it or not.
    """

    window: Window
    layout: SliceRows
    key_groups: tuple[int, ...]
    chunk_rows: int = CHUNK_ROWS

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        watermark: int | None = None
        waiting: list[Any] = []
        rows = size = 0
        for batch in batches:
            if not batch.num_rows:
                continue
            watermark = larger(watermark, self._watermark(batch))
            waiting.append(self._rows_of_slices(batch))
            rows, size = rows + batch.num_rows, size + batch.nbytes
            if rows >= self.chunk_rows or size >= CHUNK_BYTES:
                yield from self._payloads(waiting)
                waiting, rows, size = [], 0, 0
        yield from self._payloads(waiting)
        if watermark is not None:
            yield _out(self.key_groups, watermark=[watermark] * len(self.key_groups))

    def _watermark(self, batch: Any) -> int | None:
        at = self.layout.keys + 1
        micros = pc.max(batch.column(at).cast(TIMESTAMP).view(pa.int64())).as_py()
        return larger(None if micros is None else micros // 1000, pc.max(batch.column(at + 1)).as_py())

    def _rows_of_slices(self, batch: Any) -> Any:
        """The rows with a time, as rows of slices; the key group is one more key."""
        keys = self.layout.keys
        time = batch.column(keys)
        if time.null_count:
            batch = batch.filter(time.is_valid())
        micros: Ints = batch.column(keys).cast(TIMESTAMP).view(pa.int64()).to_numpy()
        width, offset = self.window.slice_size * 1000, self.window.offset * 1000
        slices = (micros - offset) // width + 1
        of_keys = [_normal(column) for column in batch.columns[:keys]]
        return self._wide.batch([*of_keys, batch.column(keys + 3)], slices, batch.columns[keys + 4 :])

    def _payloads(self, waiting: list[Any]) -> Iterator[Any]:
        waiting = [batch for batch in waiting if batch.num_rows]
        if not waiting:
            return
        keys = self.layout.keys
        merged = self._wide.merged(waiting)
        groups: Ints = merged.column(keys).to_numpy().astype(np.int64)
        order = sort_order([groups])  # within a key group by slice, as before
        ordered = merged.take(pa.array(order))
        rows = self.layout.batch(ordered.columns[:keys], self._wide.slices(ordered), ordered.columns[keys + 2 :])
        starts = np.flatnonzero(changes_in(groups[order])).tolist()
        for start, stop in pairwise([*starts, len(order)]):
            yield _out([int(groups[order[start]])], payload=[to_bytes(rows.slice(start, stop - start))])

    @property
    def _wide(self) -> SliceRows:
        return SliceRows(self.layout.keys + 1, self.layout.merges)


def larger(one: int | None, other: int | None) -> int | None:
    """The larger of two watermarks; None is none at all."""
    return max((mark for mark in (one, other) if mark is not None), default=None)


def _normal(column: Any) -> Any:
    """-0.0 as 0.0 and one NaN, which GROUP BY takes for the same."""
    if not pa.types.is_floating(column.type):
        return column
    nan, zero = (pa.scalar(value, column.type) for value in (float("nan"), 0.0))
    return pc.if_else(pc.is_nan(column), nan, pc.add(column, zero))


def _out(groups: Any, watermark: list[int] | None = None, payload: list[bytes] | None = None) -> Any:
    nothing = [None] * len(groups)
    columns = (groups, watermark or nothing, payload or nothing)
    arrays = [pa.array(values, kind) for values, kind in zip(columns, OUT.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=OUT)
