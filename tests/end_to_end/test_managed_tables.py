"""Tables without a connector, filled and read in batch and on streams."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tvfsql import Session

pytestmark = pytest.mark.spark
CLICKS = "CREATE TABLE clicks (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);"
PER_MINUTE = """
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end"""


def values(*rows: tuple[int, int]) -> str:
    return ", ".join(f"({id}, TIMESTAMP '2024-01-01 00:00:{second:02}')" for id, second in rows)


def ids(session: Session, table: str = "clicks") -> list[int]:
    return sorted(row.id for row in session.sql(f"SELECT id FROM {table}").collect())


def test_both_modes_fill_and_read_the_same_tables(spark: SparkSession) -> None:
    """Streams add their rows beside those of batch, stream after stream, and both see all of them."""
    session = Session(spark, mode="batch")
    session.execute(CLICKS)
    assert ids(session) == []
    session.execute(f"INSERT INTO clicks VALUES {values((1, 0), (2, 30))}")
    stream = Session(spark, mode="streaming", catalog=session.catalog)
    stream.execute(f"INSERT INTO clicks VALUES {values((3, 59))}")
    stream.execute(f"CREATE TABLE totals AS {PER_MINUTE}")
    stream.execute("CREATE TABLE copies LIKE clicks")
    insert = "INSERT INTO copies SELECT id{}, ts FROM clicks;"
    stream.execute(f"EXECUTE STATEMENT SET BEGIN {insert.format('')} {insert.format(' + 10')} END")
    stream.execute(insert.format(" + 20"))
    session.execute("INSERT INTO copies (id) VALUES (0)")
    assert ids(session) == ids(stream) == [1, 2, 3]
    assert ids(session, "copies") == ids(stream, "copies") == [0, 1, 2, 3, 11, 12, 13, 21, 22, 23]
    assert [row.n for row in session.sql("SELECT n FROM totals").collect()] == [3]
    session.execute("INSERT OVERWRITE copies SELECT id, ts FROM clicks WHERE id = 1")
    assert ids(session, "copies") == [1]
    session.execute(f"DROP TABLE clicks; {CLICKS}")
    assert ids(session) == []


def test_a_warehouse_outlives_its_session(spark: SparkSession, tmp_path: Path) -> None:
    options = {"tvfsql.warehouse": str(tmp_path)}
    first, second = (Session(spark, options=options) for _ in range(2))
    first.execute(f"{CLICKS} INSERT INTO clicks VALUES {values((1, 0))}")
    second.execute(CLICKS)
    assert ids(second) == [1]
    second.execute("DROP TABLE clicks")
    assert not (tmp_path / "clicks").exists()


def test_rows_of_a_session_are_its_own(spark: SparkSession) -> None:
    sessions = [Session(spark) for _ in range(2)]
    for number, session in enumerate(sessions):
        session.execute(f"{CLICKS} INSERT INTO clicks VALUES {values((number, 0))}")
    assert [ids(session) for session in sessions] == [[0], [1]]
    folder = Path(sessions[0].script.warehouse._temporary.name)
    assert folder.stat().st_mode & 0o777 == 0o700
