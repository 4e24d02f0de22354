"""Which windows the rows of a chunk emit: HOP and CUMULATE as array operations over sparse slices.

Rows are slices in (key, time) order; a slice may have several rows. Each row emits the window ends from its own slice
on, up to the first one that the next row of its key emits. So the last row of a window is known without a search, and
gaps are not filled. Times are in units of slices from the window's offset: a slice is the number of its end, and
windows end on such numbers.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tvfsql.plan.window import Cumulate, Hop
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.merge.ranges import Blocks, Ranges, latest


class Reach(Protocol):
    """The window ends of a chunk: row i emits `counts[i]` of them: first[i], first[i] + stride, ..."""

    blocks: Blocks
    stride: int
    first: Ints
    counts: Ints
    kept: int  # the first row that windows still open at the last row may need
    since: Ints  # for each row the first row of its run

    def ranges(self, rows: Ints, ends: Ints) -> Ranges:
        """The rows of the windows that these rows emit with these ends."""

    def starts(self, rows: Ints, ends: Ints) -> Ints:
        """The starts of these windows."""


def reach(
    window: Hop | Cumulate,
    slice_ends: Ints,
    new_key: Mask,
    filled: Mask,
    ends: tuple[int, int] | tuple[Ints, Ints] | None = None,
) -> Reach:
    """The windows of rows with these slice ends (epoch ms).

    `new_key` flags the first row of each key, `filled` the rows with data. A window is emitted only if one of its
    slices has data, and with `ends` only if it ends between the two (epoch ms, inclusive; for all rows, or row by row).
    Raises AssertionError if the rows are not slices of the window, or not in order.
    """
    slices, rest = np.divmod(slice_ends - window.offset, window.slice_size)
    if rest.any():
        raise AssertionError(f"not slice ends of {window}")
    if ((np.diff(slices) < 0) & ~new_key[1:]).any():
        raise AssertionError("slices must be in the order of their keys and slice_end")
    kind = HopReach if isinstance(window, Hop) else CumulateReach
    made: Reach = kind(window, slices, new_key, filled)  # type: ignore[arg-type]
    if ends is not None:
        least, greatest = ((ms - window.offset) // window.slice_size for ms in ends)
        skipped = np.clip(-((made.first - least) // made.stride), 0, made.counts)
        wanted = np.clip((greatest - made.first) // made.stride + 1, skipped, made.counts)
        made.first, made.counts = made.first + skipped * made.stride, wanted - skipped
    return made


class HopReach:
    """HOP: a window consists of the `width` slices up to its end. A window ends every `stride` slices."""

    def __init__(self, window: Hop, slices: Ints, new_key: Mask, filled: Mask) -> None:
        self.width = width = window.size // window.slice_size
        self.stride = window.slide // window.slice_size
        self.slices = slices
        self.first = slices + (width - slices) % self.stride
        gap = np.diff(slices, prepend=slices[0])
        self.since = latest(new_key | (gap > width))
        # Block borders are fixed on the time line, so that a result does not depend on the chunks.
        block = slices // width
        self.blocks = Blocks(new_key | (np.diff(block, prepend=block[0]) != 0))
        # A clock that continues over all keys and skips gaps: windows of different keys or runs cannot overlap
        # on it, and it does not overflow for any dates.
        self.clock = np.cumsum(np.where(new_key, width, np.minimum(gap, width)))
        self.counts = self._counts(new_key, filled)
        last = len(slices) - 1
        self.kept = min(last, int(self._since_slice(np.array([last]), self.first[-1:])[0]))

    def ranges(self, rows: Ints, ends: Ints) -> Ranges:
        return Ranges(self.blocks, self._since_slice(rows, ends), rows + 1, self.since[rows])

    def starts(self, rows: Ints, ends: Ints) -> Ints:
        return ends - self.width

    def _since_slice(self, rows: Ints, ends: Ints) -> Ints:
        """The first row of each window."""
        opened = self.clock[rows] + (ends - self.slices[rows] - self.width)
        found: Ints = np.searchsorted(self.clock, opened, side="right")
        return found

    def _counts(self, new_key: Mask, filled: Mask) -> Ints:
        nearest = latest(filled)
        has_data = nearest >= latest(new_key)
        stop = np.where(has_data, self.slices[nearest] + self.width, self.first)
        taken_over = np.where(new_key[1:], stop[:-1], self.first[1:])
        stop[:-1] = np.minimum(stop[:-1], taken_over)
        counts: Ints = np.maximum(0, -((self.first - stop) // self.stride))
        return counts


class CumulateReach:
    """CUMULATE: a window consists of the slices of its cycle up to its end. A cycle is a block."""

    stride = 1

    def __init__(self, window: Cumulate, slices: Ints, new_key: Mask, filled: Mask) -> None:
        self.width = width = window.size // window.slice_size
        self.first = slices
        self.cycle = (slices - 1) // width
        self.blocks = Blocks(new_key | (np.diff(self.cycle, prepend=self.cycle[0]) != 0))
        self.since = self.blocks.start
        self.kept = int(self.since[-1])
        nearest = latest(filled)
        has_data = nearest >= self.blocks.start
        taken_over = np.append(slices[1:], 0)
        stop = np.where(self.blocks.last, (self.cycle + 1) * width + 1, taken_over)
        if window.emit_only_on_update or window.emit_only_on_change:  # without new rows nothing changes
            has_data &= slices[nearest] == slices
            stop = np.minimum(stop, slices + 1)
        self.counts = np.where(has_data, stop - slices, 0)

    def ranges(self, rows: Ints, ends: Ints) -> Ranges:
        starts = self.since[rows]
        return Ranges(self.blocks, starts, rows + 1, starts, anchored=True)

    def starts(self, rows: Ints, ends: Ints) -> Ints:
        starts: Ints = self.cycle[rows] * self.width
        return starts
