"""Windows and streams for `tests.models.streams`, as Hypothesis draws them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from tests.models.streams import Event
from tvfsql.plan.window import Cumulate, Hop, Several, Sliced, Tumble, TumbleMonths, common_slices
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.windows.slice_tree import FAN, SHORTEST

KEYS = st.sampled_from(["a", "b", "c", None])
OFFSETS = st.sampled_from([0, 0, 3, -7])


def hops() -> st.SearchStrategy[Sliced]:
    return st.builds(Hop, st.integers(1, 12), st.integers(1, 60), OFFSETS)


def cumulates() -> st.SearchStrategy[Sliced]:
    def build(step: int, steps: int, offset: int, on_update: bool, on_change: bool) -> Sliced:
        return Cumulate(step, step * steps, offset, on_update, on_change)

    return st.builds(build, st.integers(1, 9), st.integers(1, 12), OFFSETS, st.booleans(), st.booleans())


# months begin at 1970, and at the offset
MONTHS = st.builds(TumbleMonths, st.integers(1, 14), st.integers(0, 1), OFFSETS)
EVEN = st.one_of(st.builds(Tumble, st.integers(1, 30), OFFSETS), hops(), cumulates())  # of slices of one length
WINDOWS = EVEN | MONTHS
LONG = st.builds(Hop, st.integers(1, 2), st.sampled_from([SHORTEST * 2, FAN**3 + 6, 90]), OFFSETS)


# windows of one unit, with offsets that are whole units
UNITS, STEPS = st.sampled_from([1, 2, 3, 5]), st.integers(1, 8)
SIMPLE = st.one_of(
    st.builds(Tumble, st.integers(1, 24), OFFSETS),
    st.builds(lambda slide, more, offset: Hop(slide, slide + more, offset), STEPS, st.integers(0, 30), OFFSETS),
    st.builds(Hop, st.integers(1, 2), st.sampled_from([SHORTEST * 2, FAN**3 + 6]), OFFSETS),
    st.builds(lambda step, steps, offset: Cumulate(step, step * steps, offset), STEPS, STEPS, OFFSETS),
)


def wider(window: Tumble | Hop | Cumulate, unit: int) -> Tumble | Hop | Cumulate:
    """The window with all its times so many times as long."""
    times = {name: value * unit for name, value in vars(window).items() if type(value) is int}
    return replace(window, **times)  # type: ignore[arg-type]


@st.composite
def several_windows(draw: st.DrawFn) -> Several:
    unit = draw(UNITS)
    windows = [wider(window, unit) for window in draw(st.lists(SIMPLE, min_size=1, max_size=5))]
    if not common_slices(windows):  # the rule leaves them apart: one more window makes them fit
        windows.insert(draw(st.integers(0, len(windows))), Tumble(unit))
    return Several.of({f"w{i}": window for i, window in enumerate(windows)})


@st.composite
def micro_batches(draw: st.DrawFn, *, disorder: int = 60) -> list[list[Event]]:
    """Rows with advancing times, some of them far out of order; some carry watermarks; the input ends."""
    batches, now = [], draw(st.integers(-100, 100))
    for _ in range(draw(st.integers(1, 12))):
        events = []
        for _ in range(draw(st.integers(0, 6))):
            now += draw(st.integers(0, 10))
            ts = now - draw(st.sampled_from([0, 0, 0, 1, 5, 20, disorder]))
            mark = draw(st.sampled_from([None, now - 1, now - 10, now - 30]))
            events.append(Event(draw(KEYS), ts, mark, draw(st.sampled_from([0, 0, 0, *range(-9, 10)]))))
        if draw(st.integers(0, 5)) == 0:
            events.append(Event(None, None, now - draw(st.integers(-40, 10))))
        batches.append(events)
    return [*batches, [Event(None, None, END_OF_INPUT)]]


@st.composite
def copied_batches(draw: st.DrawFn) -> list[list[list[Event]]]:
    """The same, where each row is a list of its copies with other keys and values."""

    def copies(event: Event) -> list[Event]:
        keys = draw(st.lists(KEYS, max_size=2)) if event.ts is not None else []
        return [event, *(replace(event, key=key, value=event.value + 1, copy=True) for key in keys)]

    return [[copies(event) for event in events] for events in draw(micro_batches())]
