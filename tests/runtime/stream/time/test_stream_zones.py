"""Watermarks of instants on wall clocks that go forward and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.bids import write_files
from tests.support.examples import SOAK, examples
from tvfsql import Session
from tvfsql.plan.values.zone_names import zone_name, zone_of
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.time.valve import IDLE
from tvfsql.runtime.stream.time.zones import instant_of, times_of, wall_watermarks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE = 60_000
HOUR = 60 * MINUTE
# near changes: an hour, half an hour, a day left out, a zone that turned its clocks back for good, and none
CHANGES = {
    "America/Los_Angeles": ("2021-03-14T10:00", "2021-11-07T09:00"),
    "Europe/Berlin": ("2024-03-31T01:00", "2024-10-27T01:00"),
    "Australia/Lord_Howe": ("2023-10-01T15:30", "2023-04-01T15:00"),
    "Pacific/Apia": ("2011-12-30T10:00", "2012-03-31T14:00"),
    "Asia/Pyongyang": ("2015-08-14T15:00", "2018-05-04T15:00"),
    "Asia/Shanghai": ("1988-04-16T18:00", "2020-10-09T16:00"),
}


def ms(iso: str) -> int:
    return int(datetime.fromisoformat(iso).replace(tzinfo=UTC).timestamp() * 1000)


def reading(instant: int, zone: str) -> int:
    """The wall clock of a zone, in ms as if it were UTC."""
    local = (EPOCH + timedelta(milliseconds=instant)).astimezone(ZoneInfo(zone)).replace(tzinfo=UTC)
    return (local - EPOCH) // timedelta(milliseconds=1)


@st.composite
def instants(draw: st.DrawFn) -> tuple[str, int]:
    zone = draw(st.sampled_from(list(CHANGES)))
    change = ms(draw(st.sampled_from(CHANGES[zone])))
    near = st.sampled_from([-HOUR - 1, -HOUR, -HOUR + 1, -1, 0, 1, HOUR])
    return zone, change + draw(near | st.integers(-30 * HOUR, 30 * HOUR))


@given(instants())
@examples(150)
def test_no_later_row_has_a_time_up_to_the_watermark(case: tuple[str, int]) -> None:
    zone, instant = case
    (wall,) = wall_watermarks(np.array([instant]), zone).tolist()
    soon = (instant // MINUTE + 1) * MINUTE
    # a wall clock only goes back where a minute begins
    later = [reading(at, zone) for at in (instant + 1, *range(soon, soon + 26 * HOUR, MINUTE))]
    assert wall == min(reading(instant, zone), *(time - 1 for time in later))
    first = instant_of(wall, zone)
    assert first <= instant
    assert wall_watermarks(np.array([first, first - 1]), zone).tolist()[0] == wall
    assert wall_watermarks(np.array([first - 1]), zone).tolist()[0] < wall


def test_watermarks_of_several_years_at_once_and_such_that_are_no_times() -> None:
    given = [ms("2021-11-07T08:30"), END_OF_INPUT, ms("2021-03-14T09:59"), IDLE, ms("1901-01-01T00:00"), 2**61]
    found = wall_watermarks(np.array(given), "America/Los_Angeles").tolist()
    assert found[:4] == [ms("2021-11-07T01:00") - 1, END_OF_INPUT, ms("2021-03-14T01:59"), IDLE]
    assert found[4] == ms("1900-12-31T16:00")
    assert instant_of(END_OF_INPUT, "America/Los_Angeles") == END_OF_INPUT


@pytest.mark.parametrize("text, minutes", [("GMT+08:00", 480), ("UTC+8", 480), ("-0330", -210), ("+18:00", 1080)])
def test_a_fixed_offset_is_a_zone_without_changes(text: str, minutes: int) -> None:
    name = zone_name(text)
    assert name is not None
    assert zone_of(name).utcoffset(None) == timedelta(minutes=minutes)
    instants = np.array([ms("2021-11-07T08:30"), ms("0001-01-03T00:00"), END_OF_INPUT])
    walls = wall_watermarks(instants, name)
    assert (walls - instants).tolist() == [minutes * MINUTE, minutes * MINUTE, 0]
    assert times_of(walls[:1], name).tolist() == instants[:1].tolist()
    assert instant_of(int(walls[0]), name) == instants[0]


def test_a_window_in_the_gap_ends_with_the_gap() -> None:
    """The first instant from which a window that ends on these readings is over (Flink: toEpochMillsForTimer)."""
    over = {
        "2021-03-14T02:00": "2021-03-14T09:59:59.999",
        "2021-03-14T02:30": "2021-03-14T10:00",
        "2021-03-14T03:00": "2021-03-14T10:00",
        "2021-11-07T01:00": "2021-11-07T07:59:59.999",
        "2021-11-07T01:30": "2021-11-07T09:29:59.999",
        "2021-11-07T02:00": "2021-11-07T09:59:59.999",
    }
    assert {end: instant_of(ms(end) - 1, "America/Los_Angeles") for end in over} == {
        end: ms(instant) for end, instant in over.items()
    }


def test_readings_that_come_twice_or_not_at_all_are_instants_as_in_spark() -> None:
    """What the JVM's ZonedDateTime.of makes of them."""
    over = {
        "2021-03-14T02:30": "2021-03-14T10:30",
        "2021-11-07T01:30": "2021-11-07T08:30",
        "2021-11-07T02:30": "2021-11-07T10:30",
        "1900-01-01T00:00": "1900-01-01T08:00",
    }
    found = times_of(np.array([ms(wall) for wall in over]), "America/Los_Angeles")
    assert found.tolist() == [ms(instant) for instant in over.values()]


WINDOWS = {
    "tumble": "TUMBLE(TABLE visit, DESCRIPTOR(at), INTERVAL '1' HOUR)",
    "hop": "HOP(TABLE visit, DESCRIPTOR(at), INTERVAL '30' MINUTE, INTERVAL '4' HOUR)",
    "cumulate": "CUMULATE(TABLE visit, DESCRIPTOR(at), INTERVAL '1' HOUR, INTERVAL '1' DAY)",
}
COUNTS = """SELECT window_start, window_end, window_time, shop, COUNT(*) AS visits, FIRST_VALUE({n}) AS opening
    FROM TABLE({}) GROUP BY window_start, window_end, window_time, shop"""


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.parametrize("strategy", ["on-periodic", "on-event"])
def test_streams_give_the_rows_of_batch_while_clocks_change(spark: SparkSession, tmp_path: Path, strategy: str) -> None:
    """Visits by the minute around both changes, up to 20 minutes out of order: none is late. Windows of each kind, and
    windows over them, of which in `make test` each strategy has its own."""
    draw = Random(3)
    rows = []
    for change in CHANGES["America/Los_Angeles"]:
        for minute in range(-5 * 60, 5 * 60, 3):
            at = ms(change) + minute * MINUTE - draw.randrange(20 * MINUTE)
            rows.append({"epoch": at, "shop": draw.choice("ab"), "n": draw.randrange(9)})
    cut = len(rows) // (8 if SOAK else 2)
    write_files(tmp_path, [rows[i : i + cut] for i in range(0, len(rows), cut)])
    day = f"({COUNTS.format(WINDOWS['hop'], n='n')})"
    several = [COUNTS.format(window, n="n") for window in WINDOWS.values()]
    # by the windows' own time, and by the windows themselves
    by_time = (
        f"TUMBLE((SELECT window_time AS rowtime, shop, visits FROM {day}), DESCRIPTOR(rowtime), INTERVAL '3' HOUR)"
    )
    several.append(COUNTS.format(by_time, n="visits"))
    several.append(
        "SELECT window_start, window_end, CAST(NULL AS TIMESTAMP_LTZ(3)), CAST(NULL AS STRING), SUM(visits), 0 "
        f"FROM {day} GROUP BY window_start, window_end"
    )
    if not SOAK:  # TUMBLE and the windows themselves, or HOP, CUMULATE and the windows' time
        several = [several[0], several[4]] if strategy == "on-periodic" else several[1:4]
    found = []
    for mode in ("streaming", "batch"):
        session = Session(spark, mode=mode, options={"table.local-time-zone": "America/Los_Angeles"})
        session.execute(
            "CREATE TABLE visit (epoch BIGINT, shop STRING, n INT, at AS TO_TIMESTAMP_LTZ(epoch, 3), "
            "WATERMARK FOR at AS at - INTERVAL '20' MINUTE) WITH ('connector' = 'filesystem', 'format' = 'json', "
            f"'path' = '{tmp_path}', 'maxFilesPerTrigger' = '1', 'scan.watermark.emit.strategy' = '{strategy}')"
        )
        found.append(sorted(map(repr, session.sql(" UNION ALL ".join(several)).collect())))
        if mode == "streaming":
            assert session.counts["numLateRecordsDropped"] == 0
            assert session.counts["watermark"] == END_OF_INPUT
    assert found[0] == found[1]


@pytest.mark.spark
def test_late_rows_are_kept_with_the_instants_of_their_windows(spark: SparkSession, tmp_path: Path) -> None:
    """A row at 1:45 is in a window up to 2:30, which no clock shows: its time is as in the rows of the query."""
    write_files(tmp_path / "in", [[{"epoch": ms("2021-03-14T12:00")}], [{"epoch": ms("2021-03-14T09:45")}]])
    session = Session(spark, mode="streaming", options={"table.local-time-zone": "America/Los_Angeles"})
    session.execute(
        "CREATE TABLE visit (epoch BIGINT, at AS TO_TIMESTAMP_LTZ(epoch, 3), WATERMARK FOR at AS at) WITH "
        f"('connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path / 'in'}', 'maxFilesPerTrigger' = '1');"
        "CREATE TABLE late (epoch BIGINT, window_end TIMESTAMP(3), window_time TIMESTAMP_LTZ(3)) WITH "
        f"('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{tmp_path / 'late'}');"
        "SET 'tvfsql.late-output' = 'late'"
    )
    window = "HOP(TABLE visit, DESCRIPTOR(at), INTERVAL '30' MINUTE, INTERVAL '1' HOUR)"
    query = f"SELECT window_time, COUNT(*) FROM TABLE({window}) GROUP BY window_start, window_end, window_time"
    assert len(session.sql(query).collect()) == 2
    late = spark.read.parquet(str(tmp_path / "late")).selectExpr(
        "epoch", "string(window_end)", "unix_millis(window_time)"
    )
    assert sorted(map(tuple, late.collect())) == [
        (ms("2021-03-14T09:45"), "2021-03-14 02:00:00", ms("2021-03-14T09:59:59.999")),
        (ms("2021-03-14T09:45"), "2021-03-14 02:30:00", ms("2021-03-14T10:29:59.999")),
    ]
