"""GlobalWindowAggregate over sessions, also with early and late firing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from tvfsql.plan.stream import ONE_INPUT, StreamContext
from tvfsql.plan.tables.internal_columns import BEFORE
from tvfsql.runtime.arrow.columns import Ints, lengths, lists, structs
from tvfsql.runtime.merge.session_merge import Intervals
from tvfsql.runtime.stream.exchange.late_rows import LATES, with_window
from tvfsql.runtime.stream.operator.messages import Emit, Fire, Late
from tvfsql.runtime.stream.operator.protocol import Operator
from tvfsql.runtime.stream.state.chunk_store import State
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.time.processing_time import passed
from tvfsql.runtime.stream.windows.sessions.early_late import FiringSessions, session_changes
from tvfsql.runtime.stream.windows.sessions.open_sessions import OpenSessions
from tvfsql.runtime.stream.windows.sessions.windows import SessionWindows


@dataclass(frozen=True)
class SessionOperator(Operator):
    """Windows made of intervals. `rows` is the partial of `layout` that counts rows. `lacking` has the
    partials that rows in state may lack."""

    layout: Intervals
    rows: str
    context: StreamContext = ONE_INPUT
    lacking: Mapping[str, pa.Array] = field(default_factory=dict)

    def open(self, state: State, timers: TimerState | None, now: int) -> SessionWindows:
        sessions = OpenSessions.of_state(self.layout, state, self.context.inputs, self.lacking)
        if self.context.firing is None:
            return SessionWindows(self.context, self.rows, sessions)
        return FiringSessions(self.context, self.rows, sessions, self.context.firing, now)

    def watermark_at(self, now: int) -> int:
        return passed(now, self.context.zone)

    def unpack(self, emitted: Fire | Emit) -> Iterator[pa.RecordBatch]:
        """Keys, window_start, window_end and merged partials; with early or late firing also `before` and `$op`."""
        assert isinstance(emitted, Emit)
        if BEFORE in emitted.rows.schema.names:
            yield from session_changes(self.layout, emitted.rows)
        else:
            yield self.layout.windows(emitted.rows)

    def unpack_late(self, late: Late) -> pa.StructArray:
        """Each late row with the session that it formed with other late rows."""
        rows = lists(late.rows.column(LATES))
        counts = lengths(rows)
        bare = replace(self.layout, keys=0, merges=())
        starts, lasts = (np.repeat(of(late.rows), counts) for of in (bare.starts, bare.lasts))
        ends: Ints = lasts + self.layout.gap * 1000
        return with_window(structs(rows.flatten()), starts, ends, self.context.zone)
