"""CURRENT_WATERMARK from SQL to rows: the watermark before a row's micro-batch, also after a restart."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.bids import BIDS, create_table, write_files
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SECONDS = [[1, 20], [10, 16, 60], [30, 40, 100]]  # a file each
WINDOWS = """INSERT INTO counted SELECT window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
WHERE CURRENT_WATERMARK(ts) IS NULL OR ts > CURRENT_WATERMARK(ts) GROUP BY window_start, window_end"""
ROWS = """INSERT INTO seen SELECT EXTRACT(SECOND FROM ts) + 60 * EXTRACT(MINUTE FROM ts),
CURRENT_WATERMARK(ts), CURRENT_WATERMARK(ts) IS NULL OR ts > CURRENT_WATERMARK(ts) FROM bid"""


def test_rows_know_the_watermark_also_after_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    batches = [[{"ts": f"2020-04-15 08:0{s // 60}:{s % 60:02}", "n": s} for s in file] for file in SECONDS]
    for until in (2, 3):
        write_files(tmp_path / "in", batches[:until])
        session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=until == 3)
        create_table(session, "bid", BIDS.format(delay=5), tmp_path / "in")
        create_table(session, "seen", "second BIGINT, mark TIMESTAMP(3), in_time BOOLEAN", tmp_path / "seen")
        create_table(session, "counted", "window_end TIMESTAMP(3), n BIGINT", tmp_path / "counted")
        session.execute(ROWS)
        session.execute(WINDOWS)
    second = {at: datetime(2020, 4, 15, 8, at // 60, at % 60) for at in (15, 55)}
    seen = sorted(map(tuple, session.table("seen").collect()))
    assert seen == [
        (1, None, True),
        (10, second[15], False),
        (16, second[15], True),
        (20, None, True),
        (30, second[55], False),
        (40, second[55], False),
        (60, second[15], True),
        (100, second[55], True),
    ]
    counted = sorted(map(tuple, session.table("counted").collect()))
    assert counted == [(datetime(2020, 4, 15, 8, 1), 3), (datetime(2020, 4, 15, 8, 2), 2)]
