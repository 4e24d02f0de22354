"""Values that leave as Arrow: instants on the clock of a zone, also within other values, and times of any year."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvfsql.plan.values.times import FarTime, clock_of, instant_text, micros_of, time_text, wall_date, wall_time
from tvfsql.runtime.arrow.shown_values import python_values, rows_of, shown_values

LTZ = pa.timestamp("us", "UTC")
NEW_YEAR = datetime(2024, 1, 1, tzinfo=UTC)


@given(st.datetimes(), st.sampled_from(["Asia/Tokyo", "America/Los_Angeles", "Pacific/Apia", "UTC"]))
def test_instants_are_on_the_clock_of_the_zone(time: datetime, zone: str) -> None:
    instant = min(max(time, datetime(1, 1, 3)), datetime(9999, 12, 29)).replace(tzinfo=UTC)
    wanted = instant.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    assert shown_values(pa.array([instant, None], LTZ), clock_of(zone)) == [wanted, None]


def test_instants_within_other_values_are_on_that_clock_too() -> None:
    there = datetime(2024, 1, 1, 9)
    kinds = pa.struct([("t", LTZ), ("n", pa.int32())]), pa.list_(LTZ), pa.map_(pa.string(), LTZ)
    columns = [
        pa.array([None, {"t": NEW_YEAR, "n": 1}, {"t": None, "n": 2}], kinds[0]),
        pa.array([[], None, [NEW_YEAR, None]], kinds[1]),
        pa.array([None, [("k", NEW_YEAR)], []], kinds[2]),
    ]
    table = pa.table(columns, names=["a", "b", "c"])
    wanted = [(None, [], None), ((there, 1), None, {"k": there}), ((None, 2), [there, None], {})]
    for cut in (0, 1, 2):
        rows = rows_of(table.slice(cut), ["a", "a", "c"], clock_of("Asia/Tokyo"))
        assert [tuple(row) for row in rows] == wanted[cut:]
    assert [*rows[0].__fields__] == ["a", "a", "c"] and rows[0].a.t is None


def test_keys_of_maps_that_are_lists_are_tuples() -> None:
    """A dict takes no lists: COLLECT(array) ended in a TypeError."""
    lists = pa.map_(pa.list_(pa.list_(pa.int32())), pa.int32())
    table = pa.table({"a": pa.array([[([[1, 2], []], 1), ([], 2)], None], lists)})
    assert [row.a for row in rows_of(table, ["a"], clock_of("UTC"))] == [{((1, 2), ()): 1, (): 2}, None]
    assert python_values(table.column("a").combine_chunks()) == [{((1, 2), ()): 1, (): 2}, None]
    rows = pa.map_(pa.struct([("x", pa.list_(pa.int32()))]), pa.int32())
    (shown,) = shown_values(pa.array([[({"x": [7]}, 3)]], rows), clock_of("UTC"))
    assert isinstance(shown, dict)
    ((key, count),) = shown.items()
    assert (key.x, count) == ((7,), 3)


@pytest.mark.parametrize(
    ("micros", "text"),
    [
        (253_402_300_800_000_000, "+10000-01-01 00:00:00.000"),
        (253_402_300_799_999_999, "9999-12-31 23:59:59.999"),
        (-62_135_596_800_000_000, "0001-01-01 00:00:00.000"),
        (-62_135_596_800_000_001, "0000-12-31 23:59:59.999"),
        (-62_167_219_200_000_001, "-0001-12-31 23:59:59.999"),
        (2**63 - 1, "+294247-01-10 04:00:54.775"),
        (-(2**63), "-290308-12-21 19:59:05.224"),
    ],
)
def test_times_of_any_year_have_a_text(micros: int, text: str) -> None:
    assert time_text(micros) == text
    assert isinstance(wall_time(micros), FarTime) == (text[0] in "+-" or text.startswith("0000"))
    assert micros_of(wall_time(micros)) == micros


def test_dates_of_any_year_have_a_text() -> None:
    assert wall_date(2_932_897) == "+10000-01-01" and wall_date(2_932_896) == date(9999, 12, 31)
    far = [FarTime.of(day * 86_400_000_000, day=True) for day in (-800_000, 3_000_000)]
    assert sorted([wall_date(0), far[1], far[0]], key=micros_of) == [far[0], date(1970, 1, 1), far[1]]


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_time_of_spark_has_a_text_on_every_clock(micros: int) -> None:
    for zone in ("America/Los_Angeles", "Pacific/Kiritimati", None):
        (shown,) = shown_values(pa.array([micros], pa.int64()).view(LTZ), clock_of(zone))
        assert isinstance(shown, datetime | FarTime)


def test_an_instant_has_the_text_of_its_clock() -> None:
    assert instant_text(1_615_708_800_000, "America/Los_Angeles") == "2021-03-14 00:00:00.000"
    assert datetime(2021, 3, 14, 8, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC) == timedelta(seconds=1_615_708_800)
