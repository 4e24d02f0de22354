"""When micro-batches start: a model of a stream with a clock, windows and rows that arrive in ticks."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvfsql.runtime.stream.driver.pace import SPREAD, Pace

MICRO_BATCH = 200  # ms
NOW = 1_700_000_000_000
NO_ROWS: dict[str, dict[str, int]] = {}


@dataclass
class World:
    """Rows arrive every `tick` ms, as those of event time up to then less `behind`, times `speed`."""

    size: int
    tick: int = 100
    behind: int = 0
    speed: float = 1.0
    starts: list[int] = field(default_factory=list)
    latencies: list[int] = field(default_factory=list)

    def watermark(self, now: int) -> int:
        """After the rows that have arrived by `now`."""
        return NOW + int((now // self.tick * self.tick - NOW - self.behind) * self.speed)

    def passed(self, end: int) -> int:
        """When rows arrive that pass the end of a window."""
        return next(now for now in range(self.starts[-1] - 2 * self.size, 2**62, 10) if self.watermark(now) >= end)

    def run(self, pace: Pace, seconds: int) -> World:
        start, fired = NOW, NOW // self.size * self.size
        while start < NOW + 1000 * seconds:
            self.starts.append(start)
            watermark = self.watermark(start)
            while fired + self.size <= watermark:
                fired += self.size
                self.latencies.append(start - self.passed(fired))
            report = {"watermark": watermark, "nextWindow": fired + self.size}
            following = pace.next_start(start, {"windows": report}, rows_left=False)
            assert following <= start + pace.longest
            start = max(following, start + MICRO_BATCH)
        return self

    @property
    def each_minute(self) -> float:
        return len(self.starts) * 60_000 / (self.starts[-1] - self.starts[0])


def test_a_micro_batch_starts_when_a_window_ends_and_seldom_before() -> None:
    minute = World(size=60_000, behind=300).run(Pace(500, 2_000), 300)
    assert minute.each_minute < 33
    assert max(minute.latencies[1:]) <= SPREAD
    second = World(size=1_000, behind=300).run(Pace(500, 2_000), 60)
    assert second.each_minute < 66
    assert max(second.latencies[5:]) <= SPREAD


def test_without_a_longer_pace_only_the_ends_of_windows_are_met() -> None:
    minute = World(size=60_000).run(Pace(500), 300)
    assert 115 < minute.each_minute < 125
    assert max(minute.latencies[1:]) <= SPREAD


@given(
    st.sampled_from([500, 1_000, 7_000, 60_000]),
    st.integers(1, 400),
    st.integers(0, 100_000),
    st.floats(0.0, 20.0),
)
def test_no_window_waits_longer_than_the_pace(size: int, tick: int, behind: int, speed: float) -> None:
    """However event time moves, and although each window that ends is met by as few micro-batches as possible."""
    found = World(size, tick, behind, speed).run(Pace(500, 2_000), 40)
    assert max(found.latencies, default=0) <= 2_000 + MICRO_BATCH


@pytest.mark.parametrize("speed", [0.0, 3.0])
def test_where_event_time_does_not_follow_the_clock_the_pace_is_usual(speed: float) -> None:
    found = World(size=3_600_000, speed=speed).run(Pace(500, 2_000), 60)
    assert found.each_minute > 100


def test_micro_batches_that_do_not_end_a_window_become_rarer() -> None:
    """The watermark has stopped a millisecond before the end."""
    pace, start, starts = Pace(500, 500), NOW, []
    for _ in range(8):
        starts.append(start)
        report = {"watermark": NOW - 1, "nextWindow": NOW}
        start = max(pace.next_start(start, {"windows": report}, rows_left=False), start + 1)
    gaps = [after - before for before, after in pairwise(starts)]
    assert gaps == sorted(gaps) and gaps[-1] == 500


def test_rows_that_are_left_do_not_wait() -> None:
    assert Pace(500, 2_000).next_start(NOW, NO_ROWS, rows_left=True) == NOW


def test_a_stream_without_windows_has_the_usual_pace() -> None:
    assert Pace(500, 2_000).next_start(NOW, NO_ROWS, rows_left=False) == NOW + 500
    assert Pace(500, 2_000).next_start(NOW, {"rows": {"watermark": NOW}}, rows_left=False) == NOW + 500


def test_a_time_that_an_operator_waits_for_is_met() -> None:
    pace = Pace(500, 2_000)
    report = {"watermark": NOW, "due": NOW + 120}
    assert pace.next_start(NOW, {"proctime": report}, rows_left=False) == NOW + 120
    assert pace.next_start(NOW + 50, NO_ROWS, rows_left=False) == NOW + 120
    assert pace.next_start(NOW + 120, NO_ROWS, rows_left=False) == NOW + 620, "it has been called for"
    report = {"watermark": NOW, "due": NOW + 60_000}
    assert pace.next_start(NOW + 120, {"proctime": report}, rows_left=False) == NOW + 2_120


def test_a_window_of_a_table_without_new_rows_does_not_hurry_the_others() -> None:
    pace = Pace(500, 2_000)
    pace.next_start(NOW, {"one": {"watermark": NOW - 10, "nextWindow": NOW + 100}}, rows_left=False)
    other = {"other": {"watermark": NOW, "nextWindow": NOW + 60_000}}
    assert pace.next_start(NOW + 50, other, rows_left=False) == NOW + 110
    assert pace.next_start(NOW + 110, other, rows_left=False) == NOW + 610
