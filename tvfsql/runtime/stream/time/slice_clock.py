"""Windows in units of slices: a slice is a number, and so is the end of a window.

This is the arithmetic of `plan.window`, for state that is kept by slice. Single numbers are Python integers, so no date
and no watermark overflows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tvfsql.plan.window import Cumulate, Hop, Sliced, TumbleMonths, of_slices
from tvfsql.runtime.arrow.columns import Ints

_DATES = (-(2**55), 2**55)  # epoch ms that numpy can convert to calendar months without overflow


@dataclass(frozen=True)
class Span:
    """A window function whose windows are runs of slices. `slice_` and `window_end` are numbers of slices."""

    window: Sliced

    @cached_property
    def kernel(self) -> Hop | Cumulate:
        """The window for the kernel of batch. Months differ in length, so the kernel sees them as slices of 1 ms
        (`kernel_time`)."""
        return Cumulate(1, 1) if isinstance(self.window, TumbleMonths) else of_slices(self.window)

    def kernel_time(self, slices: Ints) -> Ints:
        """The ends of slices in epoch ms, on the kernel's clock."""
        return slices * self.kernel.slice_size + self.kernel.offset

    def of_kernel_time(self, ms: Ints) -> Ints:
        """The start or end of a window in epoch ms, from its time on the kernel's clock."""
        return self.ends(ms) if isinstance(self.window, TumbleMonths) else ms

    @cached_property
    def width(self) -> int:
        """The number of slices in the longest window."""
        return self.kernel.size // self.kernel.slice_size

    @cached_property
    def stride(self) -> int:
        """The number of slices from one window end to the next."""
        return self.kernel.slide // self.kernel.slice_size if isinstance(self.kernel, Hop) else 1

    def number(self, ms: int) -> int:
        """The last slice that has ended by `ms` (epoch ms)."""
        if isinstance(self.window, TumbleMonths):
            return self.window.number(ms)
        return (ms - self.window.offset) // self.window.slice_size

    def numbers(self, ms: Ints) -> Ints:
        """`number` of each value."""
        window = self.window
        if not isinstance(window, TumbleMonths):
            return (ms - window.offset) // window.slice_size
        months = (np.clip(ms, *_DATES) - window.offset).astype("datetime64[ms]").astype("datetime64[M]")
        return (months.astype(np.int64) - window.start) // window.months

    def end(self, slice_: int) -> int:
        """The end of a slice in epoch ms."""
        if isinstance(self.window, TumbleMonths):
            return self.window.end(slice_)
        return slice_ * self.window.slice_size + self.window.offset

    def ends(self, slices: Ints) -> Ints:
        """`end` of each slice."""
        window = self.window
        if not isinstance(window, TumbleMonths):
            return slices * window.slice_size + window.offset
        months = (slices * window.months + window.start).astype("datetime64[M]")
        return months.astype("datetime64[ms]").astype(np.int64) + window.offset

    def first(self, slice_: int) -> int:
        """The end of the first window that contains the slice."""
        return slice_ + (self.width - slice_) % self.stride

    def last(self, slice_: int) -> int:
        """The end of the last window that contains the slice. It is before `first` if the slice lies between two
        windows."""
        if isinstance(self.kernel, Hop):
            return (slice_ - 1) // self.stride * self.stride + self.width
        return ((slice_ - 1) // self.width + 1) * self.width

    def expired(self, fired: int) -> int:
        """The latest slice whose last window ends at or before `fired`. `last` never decreases."""
        if isinstance(self.kernel, Hop):
            return ((fired - self.width) // self.stride + 1) * self.stride
        return fired // self.width * self.width

    def latest(self, slice_: int) -> int:
        """The last window end at or before the slice."""
        return slice_ - (slice_ - self.width) % self.stride

    def opening(self, window_end: int) -> int:
        """The first slice of a window."""
        if isinstance(self.kernel, Hop):
            return window_end - self.width + 1
        return (window_end - 1) // self.width * self.width + 1

    def open(self, slices: Iterable[int], fired: int | None) -> Iterator[int]:
        """The ends of the windows that contain one of the slices (ascending) and end after `fired`. Windows up to
        `fired` have fired; None: no window has fired."""
        least = None if fired is None else self.latest(fired) + self.stride
        for slice_ in slices:
            first, last = self.first(slice_), self.last(slice_)
            for end in range(first if least is None else max(first, least), last + 1, self.stride):
                yield end
                least = end + self.stride
