"""What is left of the rows of a history: slices, parts of sessions, single rows; and what Spark observes of them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from tvfsql.plan.window import Session, Tumble

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOUR = 3_600_000
# time, key, price, watermark; a filter has taken the time of the third row, which is the latest
ROWS = """SELECT * FROM VALUES ('08:00:00', 'a', 1, '07:59:55'), ('08:20:00', 'a', 2, '08:19:55'),
  (NULL, 'a', 4, '11:00:00.0019'), ('09:00:00', 'b', 8, '08:59:55') AS r(at, k, n, mark)"""


@pytest.mark.spark
def test_rows_without_a_time_are_left_out_but_their_watermarks_count(spark: SparkSession) -> None:
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    from tvfsql.runtime.stream.backfill import aggregated

    latest = 11 * HOUR + 1
    day = datetime(1970, 1, 1)
    eight, later, nine = day.replace(hour=8), day.replace(hour=8, minute=20), day.replace(hour=9)
    for window, wanted in (
        (Tumble(HOUR), {(eight, "a", 3), (nine, "b", 8)}),
        (Session(HOUR), {(eight, "a", 3), (later, "a", None), (nine, "b", 8)}),
        (Session(HOUR, 2 * HOUR), {(eight, "a", 1), (later, "a", 2), (nine, "b", 8)}),
    ):
        for kind in ("timestamp_ntz", "timestamp"):
            zone = " UTC" if kind == "timestamp" else ""
            times = {name: F.expr(f"CAST(concat('1970-01-01 ', {at}, '{zone}') AS {kind})") for name, at in
                     (("ts", "at"), ("$watermark", "mark"))}  # fmt: skip
            seen = Observation()
            rows = spark.sql(ROWS).withColumns(times)
            made = aggregated(rows, window, seen, time="ts", keys=["k"], merges={"n": "sum"}, zone=zone.strip())
            local = made.withColumn("ts", F.date_format("ts", "HH:mm")) if zone else made
            found = {(row.ts, row.k, row.n) for row in local.collect()}
            assert len(found) == len(wanted)
            if not zone:
                assert found == wanted
            assert seen.get == {"rows": 4, "watermark": latest}


@pytest.mark.spark
def test_a_session_keeps_its_last_row_in_the_hour_that_clocks_repeat(spark: SparkSession) -> None:
    """Clocks in Berlin show 02:50, and then 02:10 and 02:20. Both 02:50 and 02:10 are borders of the part."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    from tvfsql.runtime.stream.backfill import aggregated

    times = ("2024-10-27T00:50:00Z", "2024-10-27T01:10:00Z", "2024-10-27T01:20:00Z")
    values = ", ".join(f"(TIMESTAMP_LTZ '{at}', 'a', {number})" for number, at in enumerate(times, 1))
    rows = spark.sql(f"SELECT *, ts AS `$watermark` FROM VALUES {values} AS r(ts, k, n)")
    merges = {"n": "sum"}
    made = aggregated(rows, Session(HOUR), Observation(), time="ts", keys=["k"], merges=merges, zone="Europe/Berlin")
    found = {(row.at, row.n) for row in made.select(F.unix_seconds("ts").alias("at"), "n").collect()}
    first, last = (int(datetime.fromisoformat(times[i]).timestamp()) for i in (1, 0))
    assert found == {(first, 6), (last, None)}
