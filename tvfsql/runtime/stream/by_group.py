"""From the rows of a partition to key groups: payloads of rows, and what the channels say, in their order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from tvfsql.runtime.columns import Ints
from tvfsql.runtime.stream.said import Said
from tvfsql.runtime.stream.slice_rows import changes_in, to_bytes

CHUNK_ROWS = 200_000
CHUNK_BYTES = 128 << 20
# What goes to a key group: rows (payload), or what a channel says (`Valve.say`). Of one seq rows go first.
OUT = pa.schema(
    [
        ("key_group", pa.int32()),
        ("seq", pa.int64()),
        ("channel", pa.string()),
        ("watermark", pa.int64()),
        ("payload", pa.binary()),
    ]
)


class ByKeyGroup(ABC):
    """What `mapInArrow` runs before an exchange by key group.

    Each partition says what it heard of every channel to every key group, whether it has rows for it or not: at the
    end, or with `on_event` wherever order matters; there a new seq begins.
    """

    key_groups: tuple[int, ...]
    on_event: bool
    chunk_rows: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        said = Said()
        waiting: list[Any] = []
        rows = size = seq = 0
        for batch in batches:
            if not batch.num_rows:
                continue
            ends = self._ends(said, batch) if self.on_event else []
            for start, stop in pairwise([0, *ends, *({batch.num_rows} - {*ends})]):
                part = batch.slice(start, stop - start)
                said.hear(*self._marks(part))
                waiting.append(self._placed(part))
                rows, size = rows + part.num_rows, size + part.nbytes
                if stop in ends or rows >= self.chunk_rows or size >= CHUNK_BYTES:
                    yield from self._payloads(waiting, seq)
                    waiting, rows, size = [], 0, 0
                if stop in ends:
                    yield from self._messages(said, seq)
                    seq += 1
        yield from self._payloads(waiting, seq)
        yield from self._messages(said, seq)

    @abstractmethod
    def _marks(self, batch: Any) -> tuple[Any, Any, Any]:
        """Channel, watermark in epoch microseconds, and watermark of control rows in epoch ms."""

    @abstractmethod
    def _ends(self, said: Said, batch: Any) -> list[int]:
        """Behind how many rows a new seq begins."""

    @abstractmethod
    def _placed(self, batch: Any) -> Any:
        """The rows with a time, as they wait for their payload."""

    @abstractmethod
    def _grouped(self, waiting: list[Any]) -> tuple[Any, Ints]:
        """What goes into payloads, those of a key group together, and the key group of each row."""

    def _payloads(self, waiting: list[Any], seq: int) -> Iterator[Any]:
        waiting = [batch for batch in waiting if batch.num_rows]
        if not waiting:
            return
        rows, groups = self._grouped(waiting)
        starts = np.flatnonzero(changes_in(groups)).tolist()
        for start, stop in pairwise([*starts, len(groups)]):
            payload = to_bytes(rows.slice(start, stop - start))
            yield _out([(int(groups[start]), seq, None, None, payload)])

    def _messages(self, said: Said, seq: int) -> Iterator[Any]:
        messages = said.take()
        if messages:
            yield _out([(to, seq, channel, mark, None) for to in self.key_groups for channel, mark in messages])


def _out(rows: list[tuple[Any, ...]]) -> Any:
    arrays = [pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), OUT.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=OUT)
