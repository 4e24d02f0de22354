"""SESSION as a table function without PARTITION BY: sessions that reach over pieces of time."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tvfsql.plan.window import Session
from tvfsql.runtime.batch.session_windows import PIECE_MS, session_windows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GAP = 500  # ms


def times(seed: int) -> list[datetime]:
    """Times before and after 1970, in sessions of which some are longer than a piece, and exactly the gap apart."""
    draw, at, found = random.Random(seed), -5 * PIECE_MS, list[int]()
    for length in (1, 300, 2, 40, 400, 3):
        for _ in range(length):
            at += draw.choice([0, GAP, GAP, GAP - 1])
            found.append(at)
        at += draw.choice([GAP + 1, PIECE_MS, 3 * PIECE_MS])
    return [datetime(1970, 1, 1) + timedelta(milliseconds=ms) for ms in found]


def sessions(rows: list[datetime]) -> set[tuple[datetime, datetime, datetime]]:
    """Each time with the start and end of its session."""
    gap, ordered = timedelta(milliseconds=GAP), sorted(rows)
    cuts = [0, *(i for i, (one, next) in enumerate(pairwise(ordered), 1) if next > one + gap), len(ordered)]
    parts = [ordered[a:b] for a, b in pairwise(cuts)]
    return {(at, part[0], part[-1] + gap) for part in parts for at in part}


@pytest.mark.spark
@pytest.mark.usefixtures("several_partitions")
def test_sessions_of_rows_reach_over_pieces_of_time(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = times(1)
    monkeypatch.setattr("tvfsql.runtime.batch.session_windows.is_worth_pieces", lambda rows: True)
    given = spark.createDataFrame([(at,) for at in rows], "ts timestamp_ntz").repartition(2)
    for in_one_task in (False, True):
        made = session_windows(given, Session(GAP), time="ts", keys=[], name="w", in_one_task=in_one_task)
        found = [(row.ts, row.w.start, row.w.end) for row in made.collect()]
        assert len(found) == len(rows)
        assert set(found) == sessions(rows)
