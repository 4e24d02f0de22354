"""Times as they are printed. The machine's time zone changes nothing: instants are on the clock of
`table.local-time-zone`. Intervals are the texts of their literals."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import ways_out
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MACHINES = ("America/New_York", "Asia/Tokyo")
OPENING = "2021-03-13 23:59:59.000"  # of 1615708799000 in Los Angeles


@pytest.mark.spark
@pytest.mark.slow
def test_the_machines_zone_changes_nothing_in_any_way_out(tmp_path: Path) -> None:
    """A process for each zone, since a zone is read when a process starts."""
    found = {zone: ways(zone, tmp_path / zone.replace("/", "-")) for zone in MACHINES}
    first, other = (found[zone] for zone in MACHINES)
    assert other == first
    for mode in ("batch", "streaming"):
        for way in ("text csv windows", "text csv nested", "show", "print", "shell and chart", "program"):
            assert OPENING in first[f"{mode} {way}"], (mode, way)
        assert "2021-03-13" in first[f"{mode} notebook"]
    assert "watermark: 2021-03-14 00:00:00.000" in first["answers"]
    assert "2021-03-14 00:00:00.000" in first["page"] and "2021-03-14 00:00:00.000" in first["state"]


def ways(zone: str, folder: Path) -> dict[str, str]:
    """What each way out prints on a machine in that zone."""
    folder.mkdir()
    command = [sys.executable, "-m", ways_out.__name__, str(folder)]
    env = {**os.environ, "TZ": zone, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    parts = (part.partition("\n") for part in done.stdout.replace(str(folder), "FOLDER").split("== ")[1:])
    return {way: text for way, _, text in parts}


@pytest.mark.spark
def test_intervals_are_the_texts_of_their_literals(spark: SparkSession) -> None:
    months, none = "INTERVAL '14' MONTH", "NULLIF(INTERVAL '2' MONTH, INTERVAL '2' MONTH)"
    result = Session(spark).sql(
        f"SELECT n * {months} AS a, -{months} AS b, ARRAY[INTERVAL '1' YEAR, {none}] AS c, MAP['a', {months}] AS d, "
        f"ROW({months}, n) AS e, {none} AS f, -INTERVAL '1 02:03:04.5' DAY TO SECOND AS g FROM (VALUES (3)) AS t (n)"
    )
    shown = [
        "3-6",
        "-1-2",
        '["1-0", null]',
        '{"a": "1-2"}',
        '{"EXPR$0": "1-2", "EXPR$1": 3}',
        "NULL",
        "-1 02:03:04.500",
    ]
    assert [cell.strip() for cell in result.text().splitlines()[3].strip("|").split("|")] == shown
    odd = Session(spark).sql(f"SELECT {months} AS `a``b.c`")
    assert [line.strip("| ") for line in odd.text().splitlines()[1:4:2]] == ["a`b.c", "1-2"]
