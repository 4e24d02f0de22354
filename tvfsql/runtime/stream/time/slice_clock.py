"""Windows counted in slices: a slice is the number of its end, and windows end on such numbers.

The same arithmetic as in `plan.window`, for state that is kept by slice. For single numbers in Python's integers, so
that no date and no watermark overflows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tvfsql.plan.window import Cumulate, Hop, Sliced, TumbleMonths, of_slices
from tvfsql.runtime.arrow.columns import Ints

_DATES = (-(2**55), 2**55)  # epoch ms between which numpy has calendar months without overflow


@dataclass(frozen=True)
class Span:
    """A window function whose windows are runs of slices."""

    window: Sliced

    @cached_property
    def kernel(self) -> Hop | Cumulate:
        """The window as the batch kernel takes it. Months differ in length: they are slices of 1 ms on the clock of the
        kernel (`kernel_time`)."""
        return Cumulate(1, 1) if isinstance(self.window, TumbleMonths) else of_slices(self.window)

    def kernel_time(self, slices: Ints) -> Ints:
        """The ends of slices in epoch milliseconds, on the clock of the kernel."""
        return slices * self.kernel.slice_size + self.kernel.offset

    def of_kernel_time(self, ms: Ints) -> Ints:
        """Epoch milliseconds of a window's start or end on the clock of the kernel."""
        return self.ends(ms) if isinstance(self.window, TumbleMonths) else ms

    @cached_property
    def width(self) -> int:
        """The slices of the longest window."""
        return self.kernel.size // self.kernel.slice_size

    @cached_property
    def stride(self) -> int:
        """The slices from one window end to the next."""
        return self.kernel.slide // self.kernel.slice_size if isinstance(self.kernel, Hop) else 1

    def number(self, ms: int) -> int:
        """The last slice that has ended at `ms`, in epoch milliseconds."""
        if isinstance(self.window, TumbleMonths):
            return self.window.number(ms)
        return (ms - self.window.offset) // self.window.slice_size

    def numbers(self, ms: Ints) -> Ints:
        """`number` of each."""
        window = self.window
        if not isinstance(window, TumbleMonths):
            return (ms - window.offset) // window.slice_size
        months = (np.clip(ms, *_DATES) - window.offset).astype("datetime64[ms]").astype("datetime64[M]")
        return (months.astype(np.int64) - window.start) // window.months

    def end(self, slice_: int) -> int:
        """The end of a slice in epoch milliseconds."""
        if isinstance(self.window, TumbleMonths):
            return self.window.end(slice_)
        return slice_ * self.window.slice_size + self.window.offset

    def ends(self, slices: Ints) -> Ints:
        """`end` of each."""
        window = self.window
        if not isinstance(window, TumbleMonths):
            return slices * window.slice_size + window.offset
        months = (slices * window.months + window.start).astype("datetime64[M]")
        return months.astype("datetime64[ms]").astype(np.int64) + window.offset

    def first(self, slice_: int) -> int:
        """The end of the first window that holds the slice."""
        return slice_ + (self.width - slice_) % self.stride

    def last(self, slice_: int) -> int:
        """The end of the last window that holds the slice; before `first` if it lies between two windows."""
        if isinstance(self.kernel, Hop):
            return (slice_ - 1) // self.stride * self.stride + self.width
        return ((slice_ - 1) // self.width + 1) * self.width

    def expired(self, fired: int) -> int:
        """The latest slice whose last window ends on `fired` or before; `last` never goes back."""
        if isinstance(self.kernel, Hop):
            return ((fired - self.width) // self.stride + 1) * self.stride
        return fired // self.width * self.width

    def latest(self, slice_: int) -> int:
        """The last window end that is not after the slice."""
        return slice_ - (slice_ - self.width) % self.stride

    def opening(self, window_end: int) -> int:
        """The first slice of a window."""
        if isinstance(self.kernel, Hop):
            return window_end - self.width + 1
        return (window_end - 1) // self.width * self.width + 1

    def open(self, slices: Iterable[int], fired: int | None) -> Iterator[int]:
        """The ends of the windows that hold one of the slices, which ascend, and lie after `fired` (None: before all):
        up to there all have fired."""
        least = None if fired is None else self.latest(fired) + self.stride
        for slice_ in slices:
            first, last = self.first(slice_), self.last(slice_)
            for end in range(first if least is None else max(first, least), last + 1, self.stride):
                yield end
                least = end + self.stride
