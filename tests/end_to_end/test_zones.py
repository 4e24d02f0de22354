"""Windows over instants (TIMESTAMP_LTZ) lie on the wall clock of `table.local-time-zone`, whatever clocks do.

Expected rows are made one by one with Python's own time zones. Source: semantics.md#time-zones.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

from tests.models.naive import Cumulating, Hopping, Tumbling, Windows
from tests.models.streams import at
from tests.support.bids import write_files
from tests.support.examples import SOAK
from tests.support.small_spark import environment
from tvfsql import Session
from tvfsql.runtime.local_spark.start import start_spark

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

HOUR = 3_600_000
DAY = 24 * HOUR
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Days on which clocks change: by an hour, by half an hour, at midnight, and by a whole day, which one zone left out
CHANGES = {
    "America/Los_Angeles": ("2021-03-14", "2021-11-07"),
    "Australia/Lord_Howe": ("2021-04-04", "2021-10-03"),
    "America/Sao_Paulo": ("2018-02-18", "2018-11-04"),
    "Pacific/Apia": ("2011-09-24", "2011-12-30"),
}
# The half hours of the days of these changes: days have 23, 24 or 25 hours, and one is left out
HALVES = {
    "America/Los_Angeles": [46, 50],
    "Australia/Lord_Howe": [49, 47],
    "America/Sao_Paulo": [48, 46],  # the hour that came twice was the last one of the day before
    "Pacific/Apia": [46, None],
}
SOME = ("Pacific/Apia",)  # on streams in `make test`, which has Los Angeles below; `make soak` has all
WINDOWS: tuple[Windows, ...] = (
    Tumbling(DAY),
    Tumbling(DAY, 6 * HOUR),
    Hopping(HOUR, 4 * HOUR),
    Cumulating(HOUR, 4 * HOUR, -HOUR),
)
TABLE = """CREATE TABLE visit (epoch BIGINT, ts AS TO_TIMESTAMP_LTZ(epoch, 3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{}', 'maxFilesPerTrigger' = '1')"""
COUNTS = "SELECT {} AS w, window_start, window_end, COUNT(*) AS n FROM TABLE({}) GROUP BY window_start, window_end"


def instants(zone: str) -> list[int]:
    """One every half hour, two days before and after each change, in epoch ms."""
    around = (datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(zone)) for day in CHANGES[zone])
    return [ms_of(day) + half * HOUR // 2 for day in around for half in range(-96, 96)]


def ms_of(time: datetime) -> int:
    return (time.astimezone(UTC) - EPOCH) // timedelta(milliseconds=1)


def wall(instant: int, zone: str) -> int:
    """What the clock of a zone shows, in ms as if it were UTC."""
    shown = (EPOCH + timedelta(milliseconds=instant)).astimezone(ZoneInfo(zone))
    return ms_of(shown.replace(tzinfo=UTC))


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.parametrize(
    ("zone", "mode"),
    [*((zone, "batch") for zone in CHANGES), *((zone, "streaming") for zone in CHANGES if SOAK or zone in SOME)],
)
def test_windows_are_those_of_the_wall_clock(spark: SparkSession, tmp_path: Path, zone: str, mode: str) -> None:
    rows = [{"epoch": instant} for instant in instants(zone)]
    write_files(tmp_path, [rows[:150], rows[150:]])
    session = Session(spark, mode=mode, options={"table.local-time-zone": zone})
    session.execute(TABLE.format(tmp_path))
    asked = " UNION ALL ".join(COUNTS.format(i, window.call("visit")) for i, window in enumerate(WINDOWS))
    expected = Counter(
        (i, at(start), at(end))
        for i, window in enumerate(WINDOWS)
        for row in rows
        for start, end in window.holding(wall(row["epoch"], zone))
    )
    found = {tuple(row)[:3]: row["n"] for row in session.sql(asked).collect()}
    assert found == expected
    days = {f"{start:%Y-%m-%d}": n for (i, start, _), n in found.items() if i == 0}
    assert [days.get(day) for day in CHANGES[zone]] == HALVES[zone]


@pytest.mark.spark
def test_the_slices_of_flinks_vectors_open_with_these_windows(spark: SparkSession, tmp_path: Path) -> None:
    vectors = {  # instant: the first window that holds it, HOP 4 h/1 h
        1615708800000: ("2021-03-13 21:00", "2021-03-14 01:00"),
        1615712400000: ("2021-03-13 22:00", "2021-03-14 02:00"),
        1615716000000: ("2021-03-14 00:00", "2021-03-14 04:00"),
        1615719600000: ("2021-03-14 01:00", "2021-03-14 05:00"),
        1636272000000: ("2021-11-06 22:00", "2021-11-07 02:00"),
        1636275600000: ("2021-11-06 22:00", "2021-11-07 02:00"),
    }
    write_files(tmp_path, [[{"epoch": instant} for instant in vectors]])
    session = Session(spark, options={"table.local-time-zone": "America/Los_Angeles"})
    session.execute(TABLE.format(tmp_path))
    first: dict[int, Any] = {}
    rows = session.sql(f"SELECT epoch, window_start, window_end FROM TABLE({Hopping(HOUR, 4 * HOUR).call('visit')})")
    for epoch, start, end in sorted(rows.collect(), reverse=True):
        first[epoch] = (f"{start:%Y-%m-%d %H:%M}", f"{end:%Y-%m-%d %H:%M}")
    assert first == vectors
    steps = session.sql(
        f"SELECT epoch, window_start, window_end FROM TABLE({Cumulating(HOUR, 4 * HOUR).call('visit')})"
    )
    opening = {epoch: (f"{start:%H:%M}", f"{end:%H:%M}") for epoch, start, end in sorted(steps.collect(), reverse=True)}
    assert list(map(opening.get, sorted(vectors)[:4])) == [
        ("00:00", "01:00"), ("00:00", "02:00"), ("00:00", "04:00"), ("04:00", "05:00"),
    ]  # fmt: skip


@pytest.mark.spark
def test_streams_rank_rows_of_windows_as_batch_does(spark: SparkSession, tmp_path: Path) -> None:
    zone = "America/Los_Angeles"
    rows = [{"epoch": instant} for instant in instants(zone)]
    write_files(tmp_path, [rows[i : i + 200] for i in range(0, len(rows), 200)])
    bounds = "window_start, window_end"
    ranks: tuple[tuple[Windows, str], ...] = (
        (Tumbling(DAY), f"ROW_NUMBER() OVER (PARTITION BY {bounds} ORDER BY ts DESC) = 1"),
        (Hopping(HOUR, 4 * HOUR), f"RANK() OVER (PARTITION BY {bounds} ORDER BY epoch % 7) <= 2"),
    )
    asked = " UNION ALL ".join(
        f"SELECT {i} AS w, {bounds}, window_time, epoch, ts FROM TABLE({window.call('visit')}) QUALIFY {rank}"
        for i, (window, rank) in enumerate(ranks)
    )
    found = []
    for mode in ("batch", "streaming"):
        session = Session(spark, mode=mode, options={"table.local-time-zone": zone})
        session.execute(TABLE.format(tmp_path))
        found.append(Counter(map(tuple, session.sql(asked).collect())))
    assert found[0] == found[1]
    assert all(sum(row[0] == i for row in found[0]) > 8 for i, _ in enumerate(ranks))


@pytest.mark.spark
@pytest.mark.soak
def test_a_checkpoint_goes_on_under_another_session_zone(spark: SparkSession, tmp_path: Path) -> None:
    zone = "America/Los_Angeles"
    rows = [{"epoch": instant} for instant in instants(zone)]
    query = COUNTS.format(0, Hopping(HOUR, 4 * HOUR).call("visit"))
    found: Counter[tuple[Any, ...]] = Counter()
    try:
        middle = [("UTC", 300)] if SOAK else []
        for sparks_own, upto in (("Asia/Tokyo", 200), *middle, ("America/Los_Angeles", len(rows))):
            spark.conf.set("spark.sql.session.timeZone", sparks_own)
            write_files(tmp_path / "in", [rows[i : i + 100] for i in range(0, upto, 100)])
            session = Session(
                spark,
                mode="streaming",
                options={"table.local-time-zone": zone},
                checkpoint=tmp_path / "checkpoint",
                final=upto == len(rows),
            )
            session.execute(TABLE.format(tmp_path / "in"))
            found.update(map(tuple, session.sql(query).collect()))
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    expected = Counter(
        (0, at(start), at(end)) for row in rows for start, end in WINDOWS[2].holding(wall(row["epoch"], zone))
    )
    assert found == Counter((*window, n) for window, n in expected.items())


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="starts a Spark of its own; make soak runs it")
def test_the_machines_zone_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """A process of its own beside this one, as a zone is read when it starts."""
    write_files(tmp_path / "in", [[{"epoch": instant} for instant in instants("America/Los_Angeles")]])
    script = (
        f"SET 'table.local-time-zone' = 'America/Los_Angeles'; {TABLE.format(tmp_path / 'in')};"
        "SELECT MIN(ts) AS opening, window_time, COUNT(*) AS visits "
        f"FROM TABLE({Hopping(HOUR, 4 * HOUR).call('visit')}) GROUP BY window_start, window_end, window_time "
        "ORDER BY window_time"
    )
    here = Session(spark).execute(script)[-1].text("csv")
    another = "UTC" if time.localtime().tm_gmtoff else "Asia/Tokyo"
    command = [sys.executable, "-m", "tvfsql", "run", "--format", "csv", "-e", script]
    there = subprocess.run(command, env={**environment(), "TZ": another}, capture_output=True, check=True, text=True)
    assert there.stdout == here
    assert len(here.splitlines()) > 150


@pytest.mark.spark
def test_a_spark_that_runs_keeps_its_zone(spark: SparkSession) -> None:
    zone = "spark.sql.session.timeZone"
    assert spark.conf.get(zone) == "UTC"
    try:
        spark.conf.set(zone, "Asia/Tokyo")
        assert start_spark().conf.get(zone) == "Asia/Tokyo"
    finally:
        spark.conf.set(zone, "UTC")
