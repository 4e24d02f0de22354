"""Sessions of a stream that also emit results before their end, and again when late rows arrive.

SESSIONS has the intervals that were not emitted yet, EMITTED_SESSIONS the sessions as they were emitted last. A fire
takes intervals out of the first, merges them with the second, and emits the sessions that this changes. A session that
has grown has other bounds, so it is another window: the earlier one is removed, and so is each session that it has
merged with. A session accepts rows until the watermark has passed its end by the lateness. Source:
semantics.md#early-and-late-sessions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tvfsql.plan.stream import Firing, StreamContext
from tvfsql.plan.tables.internal_columns import BEFORE, OP
from tvfsql.runtime.arrow.batches import joined, key_codes, sort_order
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.merge.session_merge import Intervals
from tvfsql.runtime.stream.operator.messages import Emit, Late
from tvfsql.runtime.stream.state.chunk_index import Kind
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.windows.delays import Delays
from tvfsql.runtime.stream.windows.sessions.open_sessions import OpenSessions
from tvfsql.runtime.stream.windows.sessions.windows import SessionWindows
from tvfsql.runtime.stream.windows.slicing import with_operations

REMOVED = "$removed"  # whether an emitted session is no more
NEVER = -(2**62)  # no watermark


@dataclass(frozen=True)
class Waiting:
    """The intervals of a bucket that were not emitted yet, and the ends of the sessions that they form (epoch ms)."""

    bucket: int
    intervals: pa.RecordBatch
    ends: Ints


class FiringSessions(SessionWindows):
    """Emits changes of sessions at the end of the micro-batch: intervals with `before`, a struct of the partials that a
    session of the same bounds had (NULL: there was none), and REMOVED. Watermarks advance once per micro-batch."""

    def __init__(self, context: StreamContext, rows: str, sessions: OpenSessions, firing: Firing, now: int) -> None:
        assert not (context.on_event or firing.purge or sessions.layout.limit), firing
        super().__init__(context, rows, sessions)
        self.firing, self.delays = firing, Delays(self.store, now)
        self.emitted = OpenSessions(self.layout, self.store, Kind.EMITTED_SESSIONS)
        self.before = self.watermark

    @property
    def closing(self) -> int | None:
        if self.watermark is None or self.watermark == END_OF_INPUT:
            return self.watermark
        return self.watermark - self.firing.lateness

    def near(self, intervals: pa.RecordBatch) -> list[pa.RecordBatch]:
        return [*self.sessions.near(intervals), *self.emitted.near(intervals)]

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Emit]:
        self.before = self.watermark
        self.store.valve.advance(messages)
        yield from ()

    def finish(self) -> Iterator[Emit | Late]:
        ended = [*map(self._waiting, self.sessions.due(NEVER if self.watermark is None else self.watermark))]
        here = {each.bucket for each in ended}
        others = [number for number in self.sessions.buckets.every() if number not in here]
        is_late = any(self._are_late(each.ends).any() for each in ended)
        is_open = bool(others) or any((~_passed(each.ends, self.watermark)).any() for each in ended)
        late = self.delays.is_due(Kind.LATE_SINCE, self.firing.late, waiting=is_late)
        early = self.firing.early is not None and self.delays.is_due(
            Kind.EARLY_SINCE, self.firing.early, waiting=is_open
        )
        for waiting in ended:
            yield from self._fire(waiting, early, late)
        for number in others if early else []:
            yield from self._fire(self._waiting((number, self.sessions.buckets.read([number]))), early, late)
        self._close()
        yield from super().finish()

    @property
    def newest_end(self) -> int | None:
        ends = (self.sessions.last_end, self.emitted.last_end)
        open_ends = (end for end in ends if end is not None and (self.watermark is None or end - 1 > self.watermark))
        return max(open_ends, default=None)

    @property
    def due(self) -> int | None:
        return self.delays.due

    def _waiting(self, found: tuple[int, Sequence[pa.RecordBatch]]) -> Waiting:
        number, intervals = found
        merged = self.layout.merged(intervals)
        ends = self.layout.session_ends([merged, *self.emitted.near(merged)])
        return Waiting(number, merged, ends[: merged.num_rows])

    def _are_late(self, ends: Ints) -> Mask:
        """Which sessions had ended before this micro-batch, and can still change."""
        late: Mask = _passed(ends, self.before) & ~_passed(ends, self.closing)
        return late

    def _fire(self, waiting: Waiting, early: bool, late: bool) -> Iterator[Emit]:
        """Emit the sessions that end now or close, and those that are due early or late."""
        ends = waiting.ends
        ended, of_late = _passed(ends, self.watermark), self._are_late(ends)
        fires = np.where(ended, ~of_late | late, early)
        fresh = waiting.intervals.filter(pa.array(fires))
        self.sessions.close(waiting.bucket, waiting.intervals, fires, ends)
        if not fresh.num_rows:
            return
        if (on_time := fires & ended & ~_passed(ends, self.before)).any():
            self.counts.fired(int(ends[on_time].min()))
        changed = self._changed(fresh)
        self.counts.rows_out += changed.num_rows
        yield Emit(changed)

    def _changed(self, fresh: pa.RecordBatch) -> pa.RecordBatch:
        """What intervals change in the sessions that were emitted: first those that are no more, then the new ones."""
        near = self.emitted.near(fresh)
        known = joined(near) if near else fresh.slice(0, 0)
        merged = self.layout.merged([fresh, known])
        of_fresh, of_known = _session_of(self.layout, merged, fresh), _session_of(self.layout, merged, known)
        places = np.unique(of_fresh)
        now = merged.take(pa.array(places))
        replaced = np.isin(of_known, places)
        same = (
            replaced
            & (self.layout.starts(known) == self.layout.starts(merged)[of_known])
            & (self.layout.lasts(known) == self.layout.lasts(merged)[of_known])
        )
        at = np.full(merged.num_rows, -1)
        at[of_known[same]] = np.flatnonzero(same)
        self._keep(known, ~replaced, now, near)
        removed = known.filter(pa.array(replaced & ~same))
        return joined(
            [
                self._change(removed, known, np.full(removed.num_rows, -1), gone=True),
                self._change(now, known, at[places], gone=False),
            ]
        )

    def _keep(self, known: pa.RecordBatch, stays: Mask, now: pa.RecordBatch, near: Sequence[pa.RecordBatch]) -> None:
        """Replace the emitted sessions of the keys of `now`, as long as these can change."""
        changeable = now.filter(pa.array(~_passed(self.layout.ends(now), self.closing)))
        rows = joined([known.filter(pa.array(stays)), changeable])
        self.emitted.buckets.update(rows, self.emitted.hashes(now), near)
        self.emitted.buckets.make_room()

    def _change(self, rows: pa.RecordBatch, known: pa.RecordBatch, at: Ints, *, gone: bool) -> pa.RecordBatch:
        """Rows with the partials of those in `known` that they replace; -1: of none."""
        first, names = self.layout.keys + 2, [name for name, _ in self.layout.merges]
        partials = known.take(pa.array(at, mask=at < 0)).columns[first:]
        before = pa.StructArray.from_arrays(partials, names=names, mask=pa.array(at < 0))
        return rows.append_column(BEFORE, before).append_column(REMOVED, pa.array(np.full(rows.num_rows, gone)))

    def _close(self) -> None:
        """Forget the emitted sessions that accept no more rows."""
        if self.closing is None:
            return
        for number, sessions in [*self.emitted.due(self.closing)]:
            kept = joined(sessions)
            ends = self.layout.session_ends([kept, *self.sessions.near(kept)])[: kept.num_rows]
            self.emitted.close(number, kept, _passed(ends, self.closing), ends)


def session_changes(layout: Intervals, emitted: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The rows of what `FiringSessions` emit: keys, window_start, window_end, partials, `before` and `$op`: -D for a
    session that is no more, +I for a new one; -U and +U where its bounds are the same."""
    width = layout.keys + 2
    for gone in (True, False):
        rows = emitted.filter(emitted.column(REMOVED) if gone else pc.invert(emitted.column(REMOVED)))
        if not rows.num_rows:
            continue
        windows = layout.windows(rows.select(layout.names))
        names = windows.schema.names
        columns = dict(zip(names[:width], windows.columns[:width], strict=True))
        partials = dict(zip(names[width:], windows.columns[width:], strict=True))
        made = with_operations(columns, partials, rows.column(BEFORE))
        if gone:
            made = made.set_column(made.schema.names.index(OP), OP, pa.array(["-D"] * made.num_rows))
        yield made


def _passed(ends: Ints, watermark: int | None) -> Mask:
    """Which ends (epoch ms) a watermark has reached."""
    reached: Mask = ends - 1 <= (NEVER if watermark is None else watermark)
    return reached


def _session_of(layout: Intervals, sessions: pa.RecordBatch, intervals: pa.RecordBatch) -> Ints:
    """For each interval the place of the session that it is in."""
    count = sessions.num_rows
    both = [pa.concat_arrays([sessions.column(at), intervals.column(at)]) for at in range(layout.keys)]
    codes = key_codes(both, count + intervals.num_rows)
    starts = np.concatenate([layout.starts(sessions), layout.starts(intervals)])
    inside = np.arange(len(starts)) >= count
    order = sort_order([codes, starts, inside.astype(np.int64)])
    heads = np.maximum.accumulate(np.where(inside[order], -1, np.arange(len(order))))
    found = np.empty(len(order), dtype=np.int64)
    found[order] = order[heads]
    return found[count:]
