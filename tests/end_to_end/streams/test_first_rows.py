"""LIMIT of a stream: a SELECT that shows its first rows and stops, also from tables without an end."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.pages import ROOT
from tests.support.small_spark import environment
from tvfsql import Session, compile
from tvfsql.answers import Answers
from tvfsql.errors import UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# the first row has price 1, the second one 2
ENDLESS = """CREATE TABLE bid (
    ts TIMESTAMP(3), price AS EXTRACT(SECOND FROM ts) * 40 + EXTRACT(MILLISECOND FROM ts) / 25 + 1,
    WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'datagen', 'rows-per-second' = '40' {})"""
WINDOWS = """SELECT window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' SECOND))
GROUP BY window_start, window_end"""


@pytest.fixture
def session(spark: SparkSession) -> Session:
    made = Session(spark, mode=None)
    made.execute(ENDLESS.format(""))
    assert made.sql("SELECT price FROM bid LIMIT 1").query.unbounded == "bid"
    return made


def prices(session: Session, query: str) -> list[int]:
    return [row[0] for row in session.sql(query).collect()]


@pytest.mark.spark
def test_a_stream_without_end_stops_after_its_first_rows(session: Session) -> None:
    assert prices(session, "SELECT price FROM bid LIMIT 50") == [*range(1, 51)]  # of several micro-batches
    assert prices(session, "SELECT price FROM bid LIMIT 4 OFFSET 43") == [44, 45, 46, 47]
    assert prices(session, "SELECT price FROM bid WHERE MOD(price, 10) = 0 FETCH FIRST 2 ROWS ONLY") == [10, 20]
    assert prices(session, "SELECT price FROM bid LIMIT 0") == []
    assert not any(run.active for run in session.streams.runs)


@pytest.mark.spark
def test_windows_and_rows_in_order_stop_too(session: Session) -> None:
    found = session.sql(f"{WINDOWS} LIMIT 2").collect()
    assert len(found) == 2 and all(row.n == 40 for row in found[1:])
    assert prices(session, "SELECT price FROM bid ORDER BY ts LIMIT 60") == [*range(1, 61)]
    assert len({row[0] for row in session.sql(f"{WINDOWS} ORDER BY window_end LIMIT 3").collect()}) == 3


@pytest.mark.spark
def test_a_stream_that_ends_has_what_there_is(spark: SparkSession) -> None:
    session = Session(spark, mode="streaming")
    session.execute(ENDLESS.format(", 'number-of-rows' = '90'"))
    assert prices(session, "SELECT price FROM bid LIMIT 500") == [*range(1, 91)]
    assert prices(session, "SELECT price FROM bid LIMIT 5") == [1, 2, 3, 4, 5]
    assert session.sql("SELECT price FROM bid LIMIT 5").to_pandas().price.tolist() == [1, 2, 3, 4, 5]


@pytest.mark.spark
@pytest.mark.parametrize(("format", "lines"), [("table", 7), ("csv", 4), ("json", 3), ("ndjson", 3)])
def test_the_command_line_prints_them_as_one_result(session: Session, tmp_path: Path, format: str, lines: int) -> None:
    with (tmp_path / "out").open("w+", encoding="utf-8") as out:
        answers = Answers(session, format, out)
        for outcome in session.script.outcomes("SELECT price FROM bid LIMIT 3 OFFSET 40"):
            answers.give(outcome)
        out.seek(0)
        printed = out.read()
    assert re.findall(r"\d+", printed) == ["41", "42", "43"] and len(printed.splitlines()) == lines


@pytest.mark.spark
@pytest.mark.slow
def test_a_compiled_program_stops_by_itself(tmp_path: Path) -> None:
    query = compile(f"{ENDLESS.format('')};\nSELECT price FROM bid LIMIT 2 OFFSET 1", mode="streaming")
    (tmp_path / "program.py").write_text(query.code, encoding="utf-8")
    assert "limit=2, offset=1" in query.code
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=environment() | {"PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert re.findall(r"\d+", done.stdout) == ["2", "3"]


@pytest.mark.spark
def test_what_has_no_first_rows_says_so(session: Session, spark: SparkSession, tmp_path: Path) -> None:
    first = session.sql("SELECT price FROM bid LIMIT 3")
    with pytest.raises(UnsupportedError, match="a streaming DataFrame has no LIMIT"):
        first.dataframe()
    with pytest.raises(UnsupportedError, match="keeps no place to resume from"):
        Session(spark, mode=None, catalog=session.catalog, checkpoint=tmp_path).sql(
            "SELECT * FROM bid LIMIT 3"
        ).collect()
    ending = Session(spark, mode="streaming")
    ending.execute(ENDLESS.format(", 'number-of-rows' = '9'"))
    with pytest.raises(UnsupportedError, match="not to a LIMIT"):
        ending.sql("EXPLAIN ANALYZE SELECT price FROM bid LIMIT 3")
