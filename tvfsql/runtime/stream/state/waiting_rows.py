"""Rows that wait until the watermark has passed them, in slots of time: how an operator gets its rows in order.

A slot is dropped once the watermark has passed all its rows, and never rewritten. So a micro-batch writes the rows that
start to wait, and reads the slots that the watermark reaches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.batches import changes_in, joined, sort_order
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.merge.kernel import TIMESTAMP
from tvfsql.runtime.stream.state.chunk_index import Key, Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore

SLOT = 10_000  # ms


@dataclass(frozen=True)
class WaitingRows:
    """The rows of a key group that wait. `time` is the number of their time column, `slot` is in ms. Their slots have
    keys of this `kind` and `level`."""

    store: ChunkStore
    time: int
    slot: int = SLOT
    kind: Kind = Kind.WAITING
    level: int = 0

    def released(
        self, fresh: pa.RecordBatch | None, before: int | None, watermark: int | None
    ) -> Iterator[pa.RecordBatch]:
        """Take in new rows, all of them after the watermark `before`. Returns the rows that the watermark has passed
        now, in batches in order of time, of one time in order of arrival; the others wait."""
        due = None if fresh is None else self._due(fresh, watermark)
        times = self.millis(due) if due is not None else np.zeros(0, dtype=np.int64)
        done = 0
        for number in [*self._reached(watermark)] if watermark is not None and watermark != before else ():
            rows = self._rows_of(number, before, watermark or 0)
            start, stop = np.searchsorted(times, (number * self.slot, (number + 1) * self.slot)).tolist()
            if due is not None and done < start:
                yield due.slice(done, start - done)
            both = [rows, *([due.slice(start, stop - start)] if due is not None and start < stop else [])]
            if any(batch.num_rows for batch in both):
                yield self.in_order(joined(both))
            done = stop
        if due is not None and done < due.num_rows:
            yield due.slice(done)

    def millis(self, rows: pa.RecordBatch) -> Ints:
        """The times of rows in epoch ms; a row is passed by the watermark of its millisecond."""
        micros: Ints = rows.column(self.time).cast(TIMESTAMP).view(pa.int64()).to_numpy()
        return micros // 1000

    def in_order(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows in order of time; those of one time stay in their order."""
        micros: Ints = rows.column(self.time).cast(TIMESTAMP).view(pa.int64()).to_numpy()
        return rows if (micros[1:] >= micros[:-1]).all() else rows.take(pa.array(sort_order([micros])))

    @property
    def newest(self) -> int | None:
        """The time of the last row that waits (epoch ms); None if none does."""
        last = max(self._numbers(), default=None)
        return None if last is None else int(self.millis(joined(self.store.read(self._key(last)))).max())

    def _due(self, fresh: pa.RecordBatch, watermark: int | None) -> pa.RecordBatch:
        """Store the rows that the watermark has not passed in their slots. Returns the others, in order of time."""
        times = self.millis(fresh)
        over = times <= watermark if watermark is not None else np.zeros(len(times), dtype=np.bool_)
        if not over.all():
            self._keep(fresh.filter(pa.array(~over)), times[~over])
        return self.in_order(fresh.filter(pa.array(over)))

    def _keep(self, rows: pa.RecordBatch, times: Ints) -> None:
        numbers = times // self.slot
        order = sort_order([numbers])
        numbers, rows = numbers[order], rows.take(pa.array(order))
        heads = np.flatnonzero(changes_in(numbers)).tolist()
        for start, stop in pairwise([*heads, len(numbers)]):
            self.store.append(self._key(int(numbers[start])), rows.slice(start, stop - start))

    def _rows_of(self, number: int, before: int | None, watermark: int) -> pa.RecordBatch:
        """The rows of a slot that the watermark has passed now. The slot is dropped when it has passed all of them."""
        rows = joined(self.store.read(self._key(number)))
        times = self.millis(rows)
        over: Mask = times <= watermark
        if over.all():
            self.store.drop(self._key(number))
        if before is not None:
            over &= times > before
        return rows.filter(pa.array(over))

    def _reached(self, watermark: int) -> Iterator[int]:
        return (number for number in sorted(self._numbers()) if number * self.slot <= watermark)

    def _numbers(self) -> Iterator[int]:
        return (key.number for key in self.store.keys(self.kind) if key.level == self.level)

    def _key(self, number: int) -> Key:
        return Key(self.kind, number, self.level)
