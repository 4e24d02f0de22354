"""Windows and their slices: pure integer arithmetic, the same for EXPLAIN, batch and streams.

Times are epoch milliseconds of the wall clock. Every window is half-open, [start, end). A slice is the longest stretch
of time that no window border divides; it is identified by its end. Sessions have no slices. Source:
semantics.md#slices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from math import gcd
from typing import Any, get_args

from tvfsql.plan.values.times import UNITS, calendar, duration

# From this many windows a slice, Spark's number of tasks, made for the size of slices, is too small for their windows.
MANY_COPIES = 100
SIZES_A_RANGE = 4  # the length of a time range of HOP in window sizes: at most a quarter of the slices is copied


def align(ts: int, offset: int, width: int) -> int:
    """Return the start of the stretch of `width` ms, shifted by `offset`, that contains `ts`. `ts` may be negative."""
    return ts - (ts - offset) % width


@dataclass(frozen=True)
class Tumble:
    """Adjacent windows of `size` ms."""

    size: int
    offset: int = 0

    name = "TUMBLE"
    shares_slices = False
    copies = 1
    emit_only_on_change = False

    @property
    def slice_size(self) -> int:
        return self.size

    def slice_end(self, ts: int) -> int:
        """The end of the slice that contains `ts`."""
        return align(ts, self.offset, self.slice_size) + self.slice_size

    def window_ends(self, slice_end: int) -> range:
        """The ends of all windows that contain the slice, ascending."""
        return range(slice_end, slice_end + 1, self.size)

    def last_window_end(self, slice_end: int) -> int:
        return slice_end

    def window_start(self, window_end: int) -> int:
        return window_end - self.size

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """The fields that EXPLAIN prints in brackets."""
        return (("size", duration(self.size)), *_offset(self.offset))


FOREVER = 2**62  # ms; all times that rows have on the clock are in one window of this size


@dataclass(frozen=True)
class Endless(Tumble):
    """The only window of a GROUP BY without one: it has all rows, never ends, and emits changes with each micro-batch.
    Its rows are in processing time. Source: semantics.md#groups-without-a-window.
    """

    size: int = FOREVER

    name = "ENDLESS"

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        return ()


@dataclass(frozen=True)
class TumbleMonths:
    """Adjacent windows of `months` calendar months; a year is 12 months.

    Months are counted from January 1970 plus `start` months, so windows of 3 months are quarters. Windows begin
    `offset` ms after the first instant of their first month. Flink has no windows of months.
    """

    months: int
    start: int = 0
    offset: int = 0

    name = "TUMBLE"
    shares_slices = False
    copies = 1
    emit_only_on_change = False

    def number(self, ts: int) -> int:
        """The number of the last window that has ended at `ts`. Window 0 ends where the count of months begins."""
        return (_month(ts - self.offset) - self.start) // self.months

    def end(self, number: int) -> int:
        """The end of the window with this number."""
        return _month_start(number * self.months + self.start) + self.offset

    def slice_end(self, ts: int) -> int:
        """The end of the slice that contains `ts`."""
        return self.end(self.number(ts) + 1)

    def window_ends(self, slice_end: int) -> range:
        """The ends of all windows that contain the slice: just its own."""
        return range(slice_end, slice_end + 1)

    def last_window_end(self, slice_end: int) -> int:
        return slice_end

    def window_start(self, window_end: int) -> int:
        return self.end(self.number(window_end) - 1)

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """The fields that EXPLAIN prints in brackets."""
        start = (("offset", calendar(self.start)),) if self.start else ()
        return (("size", calendar(self.months)), *start, *_offset(self.offset))


@dataclass(frozen=True)
class Hop:
    """Windows of `size` ms, one every `slide` ms. `size` need not be a multiple of `slide`. If it is shorter, rows
    between two windows are in none.
    """

    slide: int
    size: int
    offset: int = 0

    name = "HOP"
    shares_slices = True
    emit_only_on_change = False

    @property
    def copies(self) -> int:
        """The largest number of windows that contain the same row."""
        return -(-self.size // self.slide)

    @property
    def has_gaps(self) -> bool:
        return self.slide > self.size

    @property
    def slice_size(self) -> int:
        return gcd(self.size, self.slide)

    def slice_end(self, ts: int) -> int:
        """The end of the slice that contains `ts`."""
        return align(ts, self.offset, self.slice_size) + self.slice_size

    def window_ends(self, slice_end: int) -> range:
        """The ends of all windows that contain the slice, ascending; empty if it lies between two windows."""
        first = slice_end + (self.size + self.offset - slice_end) % self.slide
        return range(first, slice_end - self.slice_size + self.size + 1, self.slide)

    def last_window_end(self, slice_end: int) -> int:
        return align(slice_end - self.slice_size, self.offset, self.slide) + self.size

    def window_start(self, window_end: int) -> int:
        return window_end - self.size

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """The fields that EXPLAIN prints in brackets; the size first, as in Flink."""
        return (("size", duration(self.size)), ("slide", duration(self.slide)), *_offset(self.offset))


@dataclass(frozen=True)
class Cumulate:
    """Windows that share their start and grow by `step` ms up to `size` ms, after which the next cycle starts.

    With `emit_only_on_update` a window is emitted only if rows arrived in its newest step; with `emit_only_on_change`
    only if a result differs from the last one emitted in its cycle.
    """

    step: int
    size: int
    offset: int = 0
    emit_only_on_update: bool = False
    emit_only_on_change: bool = False

    name = "CUMULATE"
    shares_slices = True

    @property
    def copies(self) -> int:
        """The largest number of windows that contain the same row."""
        return self.size // self.step

    @property
    def slice_size(self) -> int:
        return self.step

    def slice_end(self, ts: int) -> int:
        """The end of the slice that contains `ts`."""
        return align(ts, self.offset, self.slice_size) + self.slice_size

    def window_ends(self, slice_end: int) -> range:
        """The ends of all windows that contain the slice, ascending."""
        return range(slice_end, self.last_window_end(slice_end) + 1, self.step)

    def last_window_end(self, slice_end: int) -> int:
        return self.window_start(slice_end) + self.size

    def window_start(self, window_end: int) -> int:
        return align(window_end - 1, self.offset, self.size)

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """The fields that EXPLAIN prints in brackets; the size first, as in Flink."""
        return (
            ("max_size", duration(self.size)),
            ("step", duration(self.step)),
            *_offset(self.offset),
            *((("emitOnlyOnUpdate", "true"),) if self.emit_only_on_update else ()),
            *((("emit", "changed"),) if self.emit_only_on_change else ()),
        )


@dataclass(frozen=True)
class Session:
    """Windows that rows define: a session reaches from its first row to `gap` ms after its last row, and a row up to
    that time, inclusive, belongs to it. Source: semantics.md#sessions.

    Sessions begin and end at rows, so they have no slices. With `limit` no window is longer than that many ms: a longer
    run of rows is cut, counted from its first row, and a row at or after the limit begins a new session.
    """

    gap: int
    limit: int | None = None

    name = "SESSION"
    copies = 1
    emit_only_on_change = False

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """The fields that EXPLAIN prints in brackets."""
        return (("gap", duration(self.gap)), *((("max_duration", duration(self.limit)),) if self.limit else ()))


Sliced = Tumble | TumbleMonths | Hop | Cumulate


@dataclass(frozen=True)
class Several:
    """Several windows over the same rows, each with a name. Their slices are those of the window with the shortest
    ones, of which all slices of the others are made (`common_slices`).
    """

    windows: tuple[tuple[str, Tumble | Hop | Cumulate], ...]

    name = "WINDOWS"
    shares_slices = True
    emit_only_on_change = False

    @staticmethod
    def of(windows: Mapping[str, Tumble | Hop | Cumulate]) -> Several:
        """The windows with their names."""
        return Several(tuple(windows.items()))

    @property
    def copies(self) -> int:
        """The largest number of windows that contain the same row."""
        return sum(window.copies for _, window in self.windows)

    @property
    def slices(self) -> Tumble:
        """The slices, as windows."""
        return Tumble(self.slice_size, self.offset)

    @property
    def slice_size(self) -> int:
        return self._shortest.slice_size

    @property
    def offset(self) -> int:
        return self._shortest.offset % self.slice_size

    @property
    def _shortest(self) -> Tumble | Hop | Cumulate:
        return min((window for _, window in self.windows), key=lambda window: window.slice_size)

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """The fields that EXPLAIN prints in brackets: each name with its window."""
        return tuple(
            (name, f"{window.name} {', '.join(f'{part} {value}' for part, value in window.parts)}")
            for name, window in self.windows
        )


Window = Sliced | Session | Endless | Several
_KINDS: dict[str, type[Window]] = {kind.__name__: kind for kind in get_args(Window)}


def as_json(window: Window) -> list[Any]:
    """The window for JSON: the name of its class, and its fields or its windows by name."""
    if isinstance(window, Several):
        return [Several.__name__, {name: as_json(one) for name, one in window.windows}]
    return [type(window).__name__, asdict(window)]


def from_json(told: Sequence[Any]) -> Window:
    """The window of which `as_json` has told. Raises KeyError and TypeError for anything else."""
    name, fields = told
    if name == Several.__name__:
        return Several.of({each: from_json(one) for each, one in fields.items()})  # type: ignore[misc]
    return _KINDS[name](**fields)


def common_slices(windows: Sequence[Tumble | Hop | Cumulate]) -> bool:
    """Whether the slices of all these windows are made of those of one of them."""
    shortest = min(windows, key=lambda window: window.slice_size)
    return all(
        window.slice_size % shortest.slice_size == 0 and (window.offset - shortest.offset) % shortest.slice_size == 0
        for window in windows
    )


def of_slices(window: Tumble | Hop | Cumulate) -> Hop | Cumulate:
    """Return the same windows for code that builds them from slices: a TUMBLE is a CUMULATE of one step."""
    return Cumulate(window.size, window.size, window.offset) if isinstance(window, Tumble) else window


def time_ranges(window: Tumble | Hop | Cumulate) -> Hop:
    """Return the time ranges whose windows are made independently of each other, as windows over slice ends.

    A range makes the windows that end in the last `slide` ms before its end. The slices before these are its lead-in:
    windows of the previous range share them. A range of CUMULATE is a cycle, without lead-in. Ranges of HOP begin at
    multiples of the size, so that floating-point sums are added in the same order as without ranges.
    """
    whole = of_slices(window)
    if isinstance(whole, Cumulate):
        return Hop(whole.size, whole.size, whole.offset + whole.slice_size)
    length, lead_in = SIZES_A_RANGE * whole.size, whole.size - whole.slice_size
    return Hop(length, length + lead_in, whole.offset - lead_in)


def step_of(window: Tumble | Hop | Cumulate) -> int:
    """Return the time from the end of a window to the next end, in ms."""
    return window.slide if isinstance(window, Hop) else window.slice_size


def one_per_end(window: Window) -> Tumble | TumbleMonths | Session:
    """Return windows that do not overlap, one per possible end of `window`, each with the rows that share that end.
    Sessions can end at any time; the rows of one end share one time, and so form a session of that time.
    """
    match window:
        case Hop(slide, size, offset):
            return Tumble(slide, (offset + size) % slide)
        case Cumulate(step, _, offset):
            return Tumble(step, offset % step)
        case Session():
            return Session(1)
        case Several():
            raise AssertionError("the windows of WINDOWS end at different times")
    return window


def one_per_common_end(one: Window, other: Window) -> Tumble | TumbleMonths | Session:
    """Return windows that do not overlap, one per possible end of either window, each with the rows that share that
    end."""
    left, right = one_per_end(one), one_per_end(other)
    if left == right:
        return left
    if isinstance(left, Tumble) and isinstance(right, Tumble):
        size = gcd(left.size, right.size, left.offset - right.offset)
        return Tumble(size, left.offset % size)
    return Session(1)


def _offset(offset: int) -> tuple[tuple[str, str], ...]:
    return (("offset", duration(offset)),) if offset else ()


_EPOCH = date(1970, 1, 1).toordinal()
_FIRST_MONTH, _LAST_MONTH = -1969 * 12, (9999 - 1970) * 12 + 11  # the range of months that a date can have


def _month(ts: int) -> int:
    """The calendar month of an instant (January 1970 is 0), limited to the range of dates."""
    day = _EPOCH + ts // UNITS[0][0]
    if not 1 <= day <= date.max.toordinal():
        return _FIRST_MONTH if day < 1 else _LAST_MONTH
    of = date.fromordinal(day)
    return (of.year - 1970) * 12 + of.month - 1


def _month_start(month: int) -> int:
    """The first instant of a calendar month, in epoch ms."""
    years, months = divmod(min(max(month, _FIRST_MONTH), _LAST_MONTH), 12)
    return (date(1970 + years, 1 + months, 1).toordinal() - _EPOCH) * UNITS[0][0]
