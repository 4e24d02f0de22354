"""What the channels of a source say in a micro-batch, as a partition of it hears them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tvfsql.runtime.columns import Ints
from tvfsql.runtime.stream.spans import Span
from tvfsql.runtime.stream.valve import IDLE, TICK

SOURCE = ""  # the channel of rows that name none
Message = tuple[str | None, int | None]  # as `Valve.say` takes it
NEVER = -(2**62)  # epoch microseconds before any date


@dataclass
class Said:
    """The largest watermark of each channel so far (epoch ms; None: rows without one), and what of it is news.

    In, of each row: `channels` (NULL: the source is one channel), `micros` (the watermark that the row brings, epoch
    microseconds), `control` (NULL in rows; in control rows a watermark in epoch ms or IDLE, for the channel or, if
    that is NULL, for all; or TICK).
    """

    watermarks: dict[str | None, int | None] = field(default_factory=dict)
    news: dict[str | None, int | None] = field(default_factory=dict)
    idle: set[str | None] = field(default_factory=set)
    ticked: bool = False

    def hear(self, channels: Any, micros: Any, control: Any) -> None:
        if control.null_count == len(control) and channels.null_count == len(channels):
            if len(micros):
                self._say(SOURCE, floor_ms(pc.max(micros).as_py()))
            return
        of_source = control.is_null()
        rows = pa.table({"channel": channels.filter(of_source), "micros": micros.filter(of_source)})
        for row in rows.group_by("channel").aggregate([("micros", "max")]).to_pylist():
            self._say(row["channel"] or SOURCE, floor_ms(row["micros_max"]))
        of_control = control.is_valid()
        for channel, watermark in zip(
            channels.filter(of_control).to_pylist(), control.filter(of_control).to_pylist(), strict=True
        ):
            if watermark == IDLE:
                self.idle.add(channel)
            elif watermark == TICK:
                self.ticked = True
            else:
                self._say(channel, watermark)

    def take(self) -> list[Message]:
        """What is new since the last call. Idle channels come first: rows in the same micro-batch wake them."""
        messages: list[Message] = [(channel, IDLE) for channel in self.idle]
        messages += self.news.items()
        messages += [(None, TICK)] if self.ticked else []
        self.news, self.idle, self.ticked = {}, set(), False
        return messages

    def ends(self, channels: Any, micros: Any, control: Any, span: Span) -> list[int]:
        """Where a watermark passes the end of a slice: how many rows that is up to there. Every control row is one."""
        found = _behind_control_rows(control)
        for at, running in self._running(channels, micros):
            numbers = span.numbers(running + 1)
            found |= set((at[np.flatnonzero(np.diff(numbers) > 0)] + 1).tolist())
        return sorted(found)

    def turns(self, channels: Any, micros: Any, control: Any, times: Any) -> list[int]:
        """Where a row that may be behind the watermark comes and a watermark has moved since the last such place: how
        many rows there are before it. Behind every control row is one, too. `times` are the rows' own, in epoch
        microseconds. Between two places the order of rows and watermarks does not matter to sessions: no row there
        touches one that a watermark there closes.
        """
        moved, latest = np.zeros(len(micros), dtype=np.bool_), np.full(len(micros), NEVER)
        before = NEVER
        for at, running in self._running(channels, micros):
            moved[at], latest[at] = np.diff(running) > 0, running[1:]
            before = max(before, int(running[0]))
        # no watermark of the operator is later than the latest one of a channel
        latest = np.maximum.accumulate(np.append(before, latest))[:-1]
        moves = np.append(any(mark is not None for mark in self.news.values()), moved).cumsum()[:-1]
        behind = pc.fill_null(times, -NEVER).to_numpy() // 1000 - 1 <= latest
        at = np.flatnonzero(behind & (moves > 0))
        _, first = np.unique(moves[at], return_index=True)
        return sorted({*at[first].tolist(), *_behind_control_rows(control)})

    def _running(self, channels: Any, micros: Any) -> Iterator[tuple[Ints, Ints]]:
        """For each channel its rows, and its largest watermark (epoch ms) before them and behind each."""
        marks: Ints = pc.fill_null(micros, NEVER).to_numpy() // 1000
        named = pc.fill_null(channels, SOURCE)
        for channel in named.unique().to_pylist():
            at = np.flatnonzero(pc.equal(named, channel).to_numpy(zero_copy_only=False))
            before = self.watermarks.get(channel)
            yield at, np.maximum.accumulate(np.append(NEVER // 1000 if before is None else before, marks[at]))

    def _say(self, channel: str | None, watermark: int | None) -> None:
        self.watermarks[channel] = self.news[channel] = larger(self.watermarks.get(channel), watermark)


def _behind_control_rows(control: Any) -> set[int]:
    return set((np.flatnonzero(control.is_valid().to_numpy(zero_copy_only=False)) + 1).tolist())


def floor_ms(micros: int | None) -> int | None:
    return None if micros is None else micros // 1000


def larger(one: int | None, other: int | None) -> int | None:
    """The larger of two watermarks; None is none at all."""
    return max((mark for mark in (one, other) if mark is not None), default=None)
