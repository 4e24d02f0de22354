"""GlobalWindowAggregate over slices: TUMBLE, HOP and CUMULATE, also with early and late firing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from tvfsql.plan.stream import ONE_INPUT, StreamContext
from tvfsql.plan.window import Sliced
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.exchange.late_rows import missed_windows
from tvfsql.runtime.stream.operator.messages import Emit, Fire, Late
from tvfsql.runtime.stream.operator.protocol import Operator
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.time.processing_time import passed
from tvfsql.runtime.stream.time.slice_clock import Span
from tvfsql.runtime.stream.windows.by_input import WindowsOfInputs
from tvfsql.runtime.stream.windows.early_late import FiringWindows
from tvfsql.runtime.stream.windows.fire import FiredWindows
from tvfsql.runtime.stream.windows.slicing import SlicingWindows, WindowChanges


@dataclass(frozen=True)
class SlicingOperator(Operator):
    """Windows made of slices. `rows` is the partial of `layout` that counts rows. `lacking` has the partials that rows
    in state may lack."""

    window: Sliced
    layout: SliceRows
    rows: str
    context: StreamContext = ONE_INPUT
    lacking: Mapping[str, pa.Array] = field(default_factory=dict)

    def open(self, state: State, timers: TimerState | None, now: int) -> SlicingWindows | FiringWindows:
        columns = self.layout.names
        context = self.context
        store = ChunkStore(
            state,
            self.layout.merged,
            context.inputs,
            columns=columns,
            lacking=self.lacking,
            by_input=context.by_input,
        )
        made = WindowsOfInputs if context.by_input else SlicingWindows
        windows = made(context, Span(self.window), self.layout, self.rows, store)
        return windows if self.context.firing is None else FiringWindows(windows, self.context.firing, now)

    def watermark_at(self, now: int) -> int:
        return passed(now, self.context.zone)

    def unpack(self, emitted: Fire | Emit) -> Iterator[pa.RecordBatch]:
        """Keys, window_start, window_end and merged partials; with early or late firing the columns of
        `WindowChanges`."""
        if isinstance(emitted, Fire):
            return FiredWindows(Span(self.window), self.layout, self.rows).windows(emitted)
        assert self.context.firing is not None
        return WindowChanges(self.window, self.layout, self.context.firing.purge).rows(emitted.rows)

    def unpack_late(self, late: Late) -> pa.StructArray:
        return missed_windows(Span(self.window), late.rows, self.context.zone)
