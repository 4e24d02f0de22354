"""LocalWindowAggregate of a stream: rows to slices or intervals, a payload per key group, and channels' watermarks."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Generic

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tvfsql.plan.window import Sliced, Window
from tvfsql.runtime.columns import Ints, normal
from tvfsql.runtime.intervals import Intervals
from tvfsql.runtime.kernel import TIMESTAMP
from tvfsql.runtime.stream.by_group import CHUNK_ROWS, ByKeyGroup
from tvfsql.runtime.stream.late import Layout
from tvfsql.runtime.stream.said import Said
from tvfsql.runtime.stream.slice_rows import SliceRows, sort_order, with_nulls
from tvfsql.runtime.stream.spans import Span
from tvfsql.runtime.stream.zones import wall_watermarks


@dataclass(frozen=True)
class LocalWindows(ByKeyGroup, Generic[Layout]):
    """What `mapInArrow` runs. In, by position: keys, time, $watermark, $control, $channel, key group, partials of
    single rows.

    Rows without a time (control rows, and rows that a filter left out) are in no window; their watermarks count.
    With `zone` watermarks come as instants, and go on as those of its wall clock, on which the times are.
    """

    window: Window
    layout: Layout
    key_groups: tuple[int, ...]
    on_event: bool = False
    zone: str = ""
    chunk_rows: int = CHUNK_ROWS

    def _marks(self, batch: Any) -> tuple[Any, Any, Any]:
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

    def _grouped(self, waiting: list[Any]) -> tuple[Any, Ints]:
        keys = self.layout.keys
        merged = self._wide.merged(waiting)
        groups: Ints = merged.column(keys).to_numpy().astype(np.int64)
        order = sort_order([groups])  # within a key group as before, which for slices is by slice
        ordered = merged.take(pa.array(order))
        columns = [*ordered.columns[:keys], *ordered.columns[keys + 1 :]]
        return pa.RecordBatch.from_arrays(columns, self.layout.names), groups[order]

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
