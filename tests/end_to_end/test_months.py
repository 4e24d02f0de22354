"""Windows of calendar months: in their arithmetic, in batch and on a stream, against plain Python."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvfsql import Session
from tvfsql.plan.values.times import calendar
from tvfsql.plan.window import TumbleMonths
from tvfsql.runtime.stream.time.slice_clock import Span

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

EPOCH = datetime(1970, 1, 1)
DAY = 86_400_000
TIMES = st.datetimes(datetime(1600, 1, 1), datetime(2400, 1, 1))
SIZES = st.sampled_from([1, 2, 3, 5, 12, 24])
BEGINS = st.builds(TumbleMonths, SIZES, st.integers(0, 13), st.sampled_from([0, 8 * 3_600_000, -DAY, 14 * DAY]))


def window_of(window: TumbleMonths, time: datetime) -> tuple[datetime, datetime]:
    """Start and end, by counting months one after the other."""
    shift = timedelta(milliseconds=window.offset)
    months = (time - shift).year * 12 + (time - shift).month - 1 - 1970 * 12 - window.start
    first = months - months % window.months + window.start
    return begin(first) + shift, begin(first + window.months) + shift


def begin(month: int) -> datetime:
    return datetime(1970 + month // 12, month % 12 + 1, 1)


def ms_of(time: datetime) -> int:
    return (time - EPOCH) // timedelta(milliseconds=1)


@given(BEGINS, TIMES)
def test_a_time_lies_in_the_months_that_a_calendar_gives(window: TumbleMonths, time: datetime) -> None:
    start, end = window_of(window, time)
    assert window.slice_end(ms_of(time)) == ms_of(end)
    assert window.window_start(ms_of(end)) == ms_of(start)
    assert list(window.window_ends(ms_of(end))) == [ms_of(end)] == [window.last_window_end(ms_of(end))]


@given(BEGINS, st.lists(TIMES, min_size=1))
def test_many_times_are_counted_as_one_is(window: TumbleMonths, times: list[datetime]) -> None:
    span = Span(window)
    ms = np.array([*map(ms_of, times)])
    numbers = span.numbers(ms)
    assert numbers.tolist() == [span.number(int(each)) for each in ms]
    assert span.ends(numbers).tolist() == [span.end(number) for number in numbers.tolist()]
    assert all(span.number(span.end(number)) == number for number in numbers.tolist())


def test_what_is_no_date_is_before_or_after_all_dates() -> None:
    span = Span(TumbleMonths(1))
    assert span.number(2**63) == span.number(ms_of(datetime(9999, 12, 31)))
    assert span.number(-(2**63)) == span.number(ms_of(datetime(1, 1, 1)))


def test_months_are_said_in_years_where_they_are_years() -> None:
    assert [*map(calendar, (1, 3, 12, 18, 24))] == ["1 month", "3 months", "1 year", "18 months", "2 years"]


QUERY = """SELECT window_start, window_end, window_time, item, COUNT(*) AS n, SUM(price) AS total,
  COUNT(DISTINCT price) AS prices
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), {arguments})) GROUP BY window_start, window_end, window_time, item"""
WINDOWS = {
    "INTERVAL '1' MONTH": TumbleMonths(1),
    "INTERVAL '1' YEAR, INTERVAL '3' MONTH": TumbleMonths(12, 3),
    "INTERVAL '1' QUARTER, INTERVAL '14' DAY": TumbleMonths(3, 0, 14 * DAY),
}


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_the_rows_are_those_of_a_calendar(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    times = [datetime(2023, 11, 28) + timedelta(hours=31 * i) for i in range(400)]
    bids = [(time, "abc"[i % 3], i % 7) for i, time in enumerate(times)]
    file = tmp_path / "bids" / "part.csv"
    file.parent.mkdir()
    file.write_text("".join(f"{time:%Y-%m-%d %H:%M:%S},{item},{price}\n" for time, item, price in bids))
    session = Session(spark, mode=mode)
    session.execute(
        f"""CREATE TABLE bid (ts TIMESTAMP(3), item STRING, price INT, WATERMARK FOR ts AS ts)
        WITH ('connector' = 'filesystem', 'path' = '{file.parent}', 'format' = 'csv')"""
    )
    expected: Counter[Any] = Counter()
    for window in WINDOWS.values():
        groups: dict[tuple[Any, ...], list[int]] = {}
        for time, item, price in bids:
            groups.setdefault((*window_of(window, time), item), []).append(price)
        expected.update(
            (start, end, end - timedelta(milliseconds=1), item, len(prices), sum(prices), len({*prices}))
            for (start, end, item), prices in groups.items()
        )
    query = " UNION ALL ".join(QUERY.format(arguments=arguments) for arguments in WINDOWS)
    assert Counter(map(tuple, session.sql(query).collect())) == expected
