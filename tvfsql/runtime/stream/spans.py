"""Windows counted in slices: a slice is the number of its end, and windows end on such numbers.

The same arithmetic as in `plan.window`, for state that is kept by slice. Pure Python integers, so that no date
and no watermark overflows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tvfsql.plan.window import Cumulate, Hop, Tumble, Window


@dataclass(frozen=True)
class Span:
    """A window function whose windows are runs of slices."""

    window: Window

    @cached_property
    def kernel(self) -> Hop | Cumulate:
        """The window as the batch kernel takes it: a TUMBLE is a CUMULATE of one step."""
        if isinstance(self.window, Tumble):
            return Cumulate(self.window.size, self.window.size, self.window.offset)
        return self.window

    @cached_property
    def width(self) -> int:
        """The slices of the longest window."""
        return self.window.size // self.window.slice_size

    @cached_property
    def stride(self) -> int:
        """The slices from one window end to the next."""
        return self.kernel.slide // self.window.slice_size if isinstance(self.kernel, Hop) else 1

    def number(self, ms: int) -> int:
        """The last slice that has ended at `ms`, in epoch milliseconds."""
        return (ms - self.window.offset) // self.window.slice_size

    def end(self, slice_: int) -> int:
        """The end of a slice in epoch milliseconds."""
        return slice_ * self.window.slice_size + self.window.offset

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
