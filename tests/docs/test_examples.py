"""The scripts of examples/ over flights, in batch as DuckDB answers them; some sorted ones are no streams."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from tvfsql import Session
from tvfsql.errors import UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLES = Path(__file__).parents[2] / "examples"
FLIGHTS = f"FROM '{EXAMPLES / 'data' / 'flights.parquet'}'"
WANTED = {
    "departures_per_hour": f"""
        SELECT time_bucket(INTERVAL 1 HOUR, sched_dep) AS s, carrier, COUNT(dep_time) AS n, COUNT(*) - n,
            ROUND(AVG(dep_delay), 1) AS mean
        {FLIGHTS} GROUP BY s, carrier HAVING n >= 10 ORDER BY mean DESC, s, carrier LIMIT 20""",
    "sliding_day": f"""
        WITH slices AS (SELECT time_bucket(INTERVAL 15 MINUTE, sched_dep) AS t, origin, COUNT(*) AS n,
                            COUNT(dep_time) AS d {FLIGHTS} GROUP BY ALL),
            copies AS (SELECT t - to_minutes(15 * UNNEST(range(96))) AS s, origin, n, d FROM slices)
        SELECT s, s + INTERVAL 1 DAY AS e, origin, SUM(n)::BIGINT AS planned, planned - SUM(d)::BIGINT AS cancelled
        FROM copies GROUP BY ALL ORDER BY cancelled DESC, e, origin LIMIT 12""",
    "day_so_far": f"""
        WITH storm AS (SELECT * {FLIGHTS} WHERE sched_dep::DATE = DATE '2013-02-08'),
            steps AS (SELECT TIMESTAMP '2013-02-08' + to_hours(UNNEST(range(1, 25))) AS e)
        SELECT TIMESTAMP '2013-02-08', e, COUNT(dep_time), COUNT(*) - COUNT(dep_time),
            COUNT(DISTINCT dest) FILTER (dep_time IS NOT NULL), MAX(dep_delay)
        FROM steps JOIN storm ON sched_dep < e GROUP BY e ORDER BY e""",
}


def results(name: str, session: Session) -> list[Any]:
    session.script.folder = str(EXAMPLES)
    return session.execute((EXAMPLES / f"{name}.sql").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [name for name in WANTED if name != "day_so_far"])  # which is sorted by window_end
def test_sorted_examples_are_no_streams(name: str) -> None:
    with pytest.raises(UnsupportedError, match="on streams ORDER BY takes columns only"):
        results(name, Session(mode="streaming"))


@pytest.mark.spark
@pytest.mark.parametrize("name", WANTED)
def test_examples_give_the_rows_of_duckdb(name: str, spark: SparkSession) -> None:
    found = [tuple(row) for row in results(name, Session(spark))[-1].collect()]
    assert found == duckdb.sql(WANTED[name]).fetchall()
    assert len(found) >= 12


@pytest.mark.spark
def test_flights_are_a_stream_too(spark: SparkSession) -> None:
    """A single file; the scheduled departures lie in it in their order."""
    query = """SELECT window_start, origin, COUNT(*) AS n
        FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(sched_dep), INTERVAL '7' DAY))
        GROUP BY window_start, window_end, origin"""
    stream = Session(spark, mode="streaming")
    results("flights", stream)
    week = "time_bucket(INTERVAL 7 DAY, sched_dep, TIMESTAMP '1970-01-01')"
    wanted = duckdb.sql(f"SELECT {week} AS s, origin, COUNT(*) {FLIGHTS} GROUP BY ALL ORDER BY ALL").fetchall()
    assert sorted(map(tuple, stream.sql(query).collect())) == wanted
    assert stream.counts["numLateRecordsDropped"] == 0
