"""Channel messages: what the rows of a partition report about a source's channels, for all operators.

For example, a micro-batch of a Kafka topic with two partitions, whose watermark is the time less 5:

    channel  time  $watermark  $control
    "0"      100   95                     row
    "1"      103   98                     row
    "0"      102   97                     row
    "1"                        IDLE       control row: channel 1 is idle until it has rows again
                               TRIGGER    control row: no watermark moves, but operators are called

After `add` of this batch, `take` returns the messages ("1", IDLE), ("0", 97), ("1", 98) and (None, TRIGGER). After
another batch with one row of channel "0", whose watermark is 90, it returns ("0", 97). Watermarks never go back, but a
row without a new watermark is reported too, because it ends the idleness of its channel.

With `on_event` a watermark counts from the next row on. The order of rows and watermarks then matters, and a batch is
cut into seqs. With windows of 10 ms, and both channels at 85 before, `slice_cuts` of this batch is [1, 2] (numbers of
rows): 95 and 98 each pass the end of the slice [80, 90) in their channel, 97 passes no end. So the seqs before a row
decide whether it is late. Control rows count at the end of the micro-batch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.stream.time.slice_clock import Span
from tvfsql.runtime.stream.time.valve import TRIGGER, is_idle

SOURCE = ""  # the channel of rows without a channel name
# (channel, watermark), as `Valve.receive` takes them
ChannelMessage = tuple[str | None, int | None]
NEVER = -(2**62)  # epoch microseconds before any date


class WatermarkColumns(NamedTuple):
    """The watermark columns of a batch.

    `channels`: NULL if the source is one channel. `micros`: the row's watermark in epoch microseconds. `control`: NULL
    in data rows. In control rows a watermark (epoch ms), IDLE, or `idle_since` for the channel or, if that is NULL, for
    all channels; or TRIGGER.
    """

    channels: pa.Array
    micros: pa.Array
    control: pa.Array

    def slice(self, start: int, stop: int) -> WatermarkColumns:
        return WatermarkColumns(*(column.slice(start, stop - start) for column in self))

    def where(self, chosen: pa.Array) -> WatermarkColumns:
        """The columns of some rows; `chosen` has a boolean for each."""
        return WatermarkColumns(*(column.filter(chosen) for column in self))

    def only(self, chosen: pa.Array) -> WatermarkColumns:
        """The columns of all rows, with the watermarks of some."""
        return self._replace(micros=pc.if_else(chosen, self.micros, pa.nulls(len(self.micros), self.micros.type)))


@dataclass
class ChannelWatermarks:
    """The largest watermark of each channel so far (epoch ms; None: only rows without one), and what `take` has to
    report."""

    watermarks: dict[str | None, int | None] = field(default_factory=dict)
    unreported: dict[str | None, int | None] = field(default_factory=dict)
    idle: dict[str | None, int] = field(default_factory=dict)  # with what says so
    triggered: bool = False

    def add(self, batch: WatermarkColumns) -> None:
        """Update the channels from a batch."""
        channels, micros, control = batch
        if control.null_count == len(control) and channels.null_count == len(channels):
            if len(micros):
                self._note(SOURCE, floor_ms(pc.max(micros).as_py()))
            return
        of_source = control.is_null()
        rows = pa.table({"channel": channels.filter(of_source), "micros": micros.filter(of_source)})
        for row in rows.group_by("channel").aggregate([("micros", "max")]).to_pylist():
            self._note(row["channel"] or SOURCE, floor_ms(row["micros_max"]))
        of_control = control.is_valid()
        for channel, watermark in zip(
            channels.filter(of_control).to_pylist(), control.filter(of_control).to_pylist(), strict=True
        ):
            if is_idle(watermark):
                self.idle[channel] = watermark
            elif watermark == TRIGGER:
                self.triggered = True
            else:
                self._note(channel, watermark)

    def take(self, active: Collection[str | None] = ()) -> list[ChannelMessage]:
        """The messages since the last call. Idle channels come first: rows in the same micro-batch end their
        idleness. `active`: channels with rows in this micro-batch that have been reported already."""
        messages: list[ChannelMessage] = [message for message in self.idle.items() if message[0] not in active]
        messages += self.unreported.items()
        messages += [(None, TRIGGER)] if self.triggered else []
        self.unreported, self.idle, self.triggered = {}, {}, False
        return messages

    def slice_cuts(self, batch: WatermarkColumns, span: Span) -> list[int]:
        """The cuts of a batch: numbers of rows after which a watermark has passed the end of a slice."""
        found = set[int]()
        for _, at, running in self._running(batch):
            numbers = span.numbers(running + 1)
            found |= set((at[np.flatnonzero(np.diff(numbers) > 0)] + 1).tolist())
        return sorted(found)

    def session_cuts(self, batch: WatermarkColumns, times: pa.Array) -> list[int]:
        """The cuts of a batch, as numbers of rows. `times` are the rows' times in epoch microseconds.

        There is a cut before each row that may be late, and before the first row of each channel, if a watermark has
        moved since the last cut. Between two cuts the order of rows and watermarks does not matter to sessions: no row
        there touches a session that a watermark there closes, and no channel there holds back what came before it.
        """
        rows = len(batch.micros)
        moved, appears, latest = np.zeros(rows, np.bool_), np.zeros(rows, np.bool_), np.full(rows, NEVER)
        of_rows = batch.control.is_null().to_numpy(zero_copy_only=False)
        for channel, at, running in self._running(batch):
            moved[at], latest[at] = np.diff(running) > 0, running[1:]
            if channel not in self.watermarks:
                appears[at[of_rows[at]][:1]] = True
        # no watermark of the operator is later than the latest one of a channel, which need not be in this batch
        before = max((known for known in self.watermarks.values() if known is not None), default=NEVER)
        latest = np.maximum.accumulate(np.append(before, latest))[:-1]
        moves = np.append(any(watermark is not None for watermark in self.unreported.values()), moved).cumsum()[:-1]
        late = pc.fill_null(times, -NEVER).to_numpy() // 1000 - 1 <= latest
        at = np.flatnonzero((late | appears) & (moves > 0))
        _, first = np.unique(moves[at], return_index=True)
        return sorted({*at[first].tolist()})

    def _running(self, batch: WatermarkColumns) -> Iterator[tuple[str, Ints, Ints]]:
        """For each channel: its name, the positions of its rows, and its largest watermark (epoch ms) before the first
        of them and after each."""
        watermarks: Ints = pc.fill_null(batch.micros, NEVER).to_numpy() // 1000
        named = pc.fill_null(batch.channels, SOURCE)
        for channel in named.unique().to_pylist():
            at = np.flatnonzero(pc.equal(named, channel).to_numpy(zero_copy_only=False))
            before = self.watermarks.get(channel)
            first = NEVER // 1000 if before is None else before
            yield channel, at, np.maximum.accumulate(np.append(first, watermarks[at]))

    def _note(self, channel: str | None, watermark: int | None) -> None:
        self.watermarks[channel] = self.unreported[channel] = larger(self.watermarks.get(channel), watermark)


def floor_ms(micros: int | None) -> int | None:
    return None if micros is None else micros // 1000


def larger(one: int | None, other: int | None) -> int | None:
    """The larger of two watermarks; None stands for no watermark."""
    return max((watermark for watermark in (one, other) if watermark is not None), default=None)
