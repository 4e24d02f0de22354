"""LocalWindowAggregate of a stream: rows to slices or intervals, a payload per key group, and channels' watermarks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Generic

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tvfsql.plan.window import Sliced, Window
from tvfsql.runtime.columns import Ints, normal
from tvfsql.runtime.intervals import Intervals
from tvfsql.runtime.kernel import TIMESTAMP
from tvfsql.runtime.stream.late import Layout
from tvfsql.runtime.stream.said import Said
from tvfsql.runtime.stream.slice_rows import SliceRows, changes_in, sort_order, to_bytes, with_nulls
from tvfsql.runtime.stream.spans import Span
from tvfsql.runtime.stream.zones import wall_watermarks

CHUNK_ROWS = 200_000
CHUNK_BYTES = 128 << 20
# What goes to a key group: slices (payload), or what a channel says (`Valve.say`). Of one seq slices go first.
OUT = pa.schema(
    [
        ("key_group", pa.int32()),
        ("seq", pa.int64()),
        ("channel", pa.string()),
        ("watermark", pa.int64()),
        ("payload", pa.binary()),
    ]
)


@dataclass(frozen=True)
class LocalWindows(Generic[Layout]):
    """What `mapInArrow` runs. In, by position: keys, time, $watermark, $control, $channel, key group, partials of
    single rows.

    Rows without a time (control rows, and rows that a filter left out) are in no window; their watermarks count.
    Each partition says what it heard of every channel to every key group, whether it has rows for it or not: at the
    end, or with `on_event` wherever order matters; there a new seq begins.
    With `zone` watermarks come as instants, and go on as those of its wall clock, on which the times are.
    """

    window: Window
    layout: Layout
    key_groups: tuple[int, ...]
    on_event: bool = False
    zone: str = ""
    chunk_rows: int = CHUNK_ROWS

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

    def _marks(self, batch: Any) -> tuple[Any, Any, Any]:
        """Channel, watermark in epoch microseconds, and watermark of control rows in epoch ms; with `zone` both on
        its wall clock."""
        at = self.layout.keys + 1
        micros, control = batch.column(at).cast(TIMESTAMP).view(pa.int64()), batch.column(at + 1)
        if self.zone:
            micros = pc.multiply(self._on_wall_clock(micros, 1000), 1000)
            control = self._on_wall_clock(control, 1)
        return batch.column(at + 2), micros, control

    def _on_wall_clock(self, instants: Any, unit: int) -> Any:
        """Watermarks on the wall clock of the zone in ms, from instants of which `unit` are a millisecond."""
        ms = instants.fill_null(0).to_numpy() // unit
        return pa.array(wall_watermarks(ms, self.zone), mask=instants.is_null().to_numpy(zero_copy_only=False))

    @abstractmethod
    def _ends(self, said: Said, batch: Any) -> list[int]:
        """Behind how many rows a new seq begins."""

    @abstractmethod
    def _rows(self, keys: list[Any], micros: Ints, partials: list[Any]) -> Any:
        """Rows of these times as the layout has them."""

    def _placed(self, batch: Any) -> Any:
        """The rows with a time, at their places in time; the key group is one more key."""
        keys = self.layout.keys
        time = batch.column(keys)
        if time.null_count:
            batch = batch.filter(time.is_valid())
        micros: Ints = batch.column(keys).cast(TIMESTAMP).view(pa.int64()).to_numpy()
        of_keys = [with_nulls(normal(column)) for column in batch.columns[:keys]]
        partials = [with_nulls(column) for column in batch.columns[keys + 5 :]]
        return self._rows([*of_keys, batch.column(keys + 4)], micros, partials)

    def _payloads(self, waiting: list[Any], seq: int) -> Iterator[Any]:
        waiting = [batch for batch in waiting if batch.num_rows]
        if not waiting:
            return
        keys = self.layout.keys
        merged = self._wide.merged(waiting)
        groups: Ints = merged.column(keys).to_numpy().astype(np.int64)
        order = sort_order([groups])  # within a key group as before, which for slices is by slice
        ordered = merged.take(pa.array(order))
        rows = pa.RecordBatch.from_arrays([*ordered.columns[:keys], *ordered.columns[keys + 1 :]], self.layout.names)
        starts = np.flatnonzero(changes_in(groups[order])).tolist()
        for start, stop in pairwise([*starts, len(order)]):
            payload = to_bytes(rows.slice(start, stop - start))
            yield out_rows([(int(groups[order[start]]), seq, None, None, payload)])

    def _messages(self, said: Said, seq: int) -> Iterator[Any]:
        messages = said.take()
        if messages:
            yield out_rows(
                [(group, seq, channel, mark, None) for group in self.key_groups for channel, mark in messages]
            )

    @property
    def _wide(self) -> Layout:
        return replace(self.layout, keys=self.layout.keys + 1)


@dataclass(frozen=True)
class LocalSlices(LocalWindows[SliceRows]):
    """Rows to slices. With `on_event` a new seq begins wherever a watermark passes the end of a slice."""

    window: Sliced

    def _ends(self, said: Said, batch: Any) -> list[int]:
        return said.ends(*self._marks(batch), Span(self.window))

    def _rows(self, keys: list[Any], micros: Ints, partials: list[Any]) -> Any:
        return self._wide.batch(keys, Span(self.window).numbers(micros // 1000) + 1, partials)


@dataclass(frozen=True)
class LocalIntervals(LocalWindows[Intervals]):
    """Rows to intervals of sessions. With `on_event` a new seq begins before a row that may be behind the watermark, if
    that has moved."""

    def _ends(self, said: Said, batch: Any) -> list[int]:
        times = batch.column(self.layout.keys).cast(TIMESTAMP).view(pa.int64())
        return said.turns(*self._marks(batch), times)

    def _rows(self, keys: list[Any], micros: Ints, partials: list[Any]) -> Any:
        return self._wide.batch(keys, micros, micros, partials)


def out_rows(rows: list[tuple[Any, ...]]) -> Any:
    arrays = [pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), OUT.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=OUT)
