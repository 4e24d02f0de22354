"""The local phase of window operators: rows become slices or intervals of sessions, merged by key."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Generic

import numpy as np
import pyarrow as pa

from tvfsql.plan.window import Sliced
from tvfsql.runtime.arrow.batches import in_stable_type, joined, sort_order
from tvfsql.runtime.arrow.columns import Ints, normal
from tvfsql.runtime.merge.kernel import TIMESTAMP
from tvfsql.runtime.merge.session_merge import Intervals
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.exchange.late_rows import Layout
from tvfsql.runtime.stream.time.channel_messages import ChannelWatermarks, WatermarkColumns
from tvfsql.runtime.stream.time.slice_clock import Span


@dataclass(frozen=True)
class LocalWindows(Generic[Layout]):
    """A `LocalStrategy` that takes the keys, the time, and the partials of single rows, in the order of `layout`.

    `places` has for each partial the number of its column: several may share one, which may be a key's, and the time is
    not counted. None: the partial is 1 in each row. By default each partial has a column of its own.
    Rows without a time (control rows, and rows that a filter removed) are in no window, but their watermarks count.
    """

    layout: Layout
    places: tuple[int | None, ...] | None = field(default=None, kw_only=True)

    @property
    def time(self) -> int:
        return self.layout.keys

    @abstractmethod
    def _at_times(self, keys: list[pa.Array], micros: Ints, partials: list[pa.Array]) -> pa.RecordBatch:
        """Rows with these times (epoch microseconds) in the layout, with the key group as one more key."""

    def placed(self, rows: pa.RecordBatch, key_groups: pa.Array, first: int) -> pa.RecordBatch:
        keys = self.layout.keys
        time = rows.column(keys)
        if time.null_count:
            rows, key_groups = rows.filter(time.is_valid()), key_groups.filter(time.is_valid())
        micros: Ints = rows.column(keys).cast(TIMESTAMP).view(pa.int64()).to_numpy()
        of_keys = [in_stable_type(normal(column)) for column in rows.columns[:keys]]
        columns = [*rows.columns[:keys], *rows.columns[keys + 1 :]]
        places = range(keys, len(columns)) if self.places is None else self.places
        one = pa.array(np.ones(len(micros) if None in places else 0, dtype=np.int64))
        partials = [one if at is None else in_stable_type(columns[at]) for at in places]
        return self._at_times([*of_keys, key_groups], micros, partials)

    def payload(self, waiting: Sequence[pa.RecordBatch]) -> tuple[pa.RecordBatch, Ints]:
        keys = self.layout.keys
        merged = self._together(waiting)
        groups: Ints = merged.column(keys).to_numpy().astype(np.int64)
        order = sort_order([groups])  # stable: within a key group, slices stay in order
        ordered = merged.take(pa.array(order))
        columns = [*ordered.columns[:keys], *ordered.columns[keys + 1 :]]
        return pa.RecordBatch.from_arrays(columns, self.layout.names), groups[order]

    def _together(self, waiting: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        return self._with_group.merged(waiting)

    @property
    def _with_group(self) -> Layout:
        return replace(self.layout, keys=self.layout.keys + 1)


@dataclass(frozen=True)
class LocalSlices(LocalWindows[SliceRows]):
    """Turns rows into slices. With `on_event` a new seq starts where a watermark passes the end of a slice."""

    window: Sliced

    def cuts(self, channels: ChannelWatermarks, watermarks: WatermarkColumns, rows: pa.RecordBatch) -> list[int]:
        return channels.slice_cuts(watermarks, Span(self.window))

    def _at_times(self, keys: list[pa.Array], micros: Ints, partials: list[pa.Array]) -> pa.RecordBatch:
        return self._with_group.batch(keys, Span(self.window).numbers(micros // 1000) + 1, partials)


@dataclass(frozen=True)
class LocalIntervals(LocalWindows[Intervals]):
    """Turns rows into intervals of sessions. With `on_event` a new seq starts before a row that may be behind the
    watermark, if a watermark has moved, and intervals are single rows in order of arrival (`in_order`)."""

    in_order: bool = False

    def cuts(self, channels: ChannelWatermarks, watermarks: WatermarkColumns, rows: pa.RecordBatch) -> list[int]:
        times = rows.column(self.layout.keys).cast(TIMESTAMP).view(pa.int64())
        return channels.session_cuts(watermarks, times)

    def _together(self, waiting: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        return joined(waiting) if self.in_order else super()._together(waiting)

    def _at_times(self, keys: list[pa.Array], micros: Ints, partials: list[pa.Array]) -> pa.RecordBatch:
        return self._with_group.batch(keys, micros, micros, partials)
