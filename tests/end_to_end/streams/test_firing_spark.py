"""Windows of streams that fire early and late, from SQL to rows: what they give out amounts to the rows of batch."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bids import BIDS, WINDOWS, bag, create_table, sessions, some_batches, write_files
from tvfsql import Session
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.driver.running import Running
from tvfsql.runtime.stream.driver.stream import Stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EARLY = {"table.exec.emit.early-fire.enabled": "true"}
LATE = {"table.exec.emit.allow-lateness": "1 h"}
COLUMNS = """window_start TIMESTAMP(3), window_end TIMESTAMP(3), item STRING, total DECIMAL(38, 2), bids BIGINT,
mean INT, numbers BIGINT, ns STRING, closing INT, spread DOUBLE"""
TOTALS = """SELECT window_start, window_end, item, SUM(price), COUNT(*), AVG(n), COUNT(DISTINCT n),
LISTAGG(CAST(n AS STRING), '; '), LAST_VALUE(n) FILTER (WHERE n > 80), ROUND(VAR_POP(CAST(n AS DOUBLE)), 6)
FROM TABLE({window}) GROUP BY window_start, window_end, item HAVING COUNT(*) <> 4"""


@pytest.mark.spark
@pytest.mark.usefixtures("several_partitions")
def test_changes_in_a_table_leave_the_rows_of_batch(spark: SparkSession, tmp_path: Path) -> None:
    """Also where a row of HAVING's comes and goes."""
    write_files(tmp_path / "in", some_batches(seed=6, disorder=40, batches=3))
    session, batch = sessions(spark, tmp_path / "in", delay=0)
    for each in (session, batch):
        each.execute(
            f"CREATE TABLE totals (op STRING, {COLUMNS}) WITH ('connector' = 'filesystem', "
            f"'path' = '{tmp_path}/totals', 'format' = 'parquet', 'changelog.op' = 'op')"
        )
    for key, value in (EARLY | LATE).items():
        session.execute(f"SET '{key}' = '{value}'")
    query = TOTALS.format(window=WINDOWS["hop"])
    session.execute(f"INSERT INTO totals {query}")
    assert (session.counts["numLateRecordsDropped"], session.counts["stateRows"]) == (0, 0)
    expected = batch.sql(query).collect()
    assert bag(batch.sql("SELECT * FROM totals").collect()) == Counter(repr(row) for row in renamed(expected, batch))
    ops = Counter(row.op for row in spark.read.parquet(str(tmp_path / "totals")).collect())
    assert min(ops[op] for op in ("+I", "-U", "+U")) > 50
    assert ops["-U"] == ops["+U"], "an update of which HAVING passes one row is no update"
    assert ops["-D"] > 0


def renamed(rows: list[Any], session: Session) -> list[Any]:
    names = session.sql("SELECT * FROM totals").query.columns
    return [type(row)(**dict(zip(names, row, strict=True))) for row in rows]


@pytest.mark.spark
@pytest.mark.usefixtures("several_partitions")
def test_sessions_that_grow_and_merge_leave_the_sessions_of_batch(spark: SparkSession, tmp_path: Path) -> None:
    """A second run resumes from sessions that were emitted and are open."""
    batches = some_batches(seed=8, disorder=40, batches=4)
    query = (
        "SELECT window_start, window_end, item, COUNT(*) AS bids, SUM(n) AS total FROM TABLE(SESSION(TABLE bid "
        "PARTITION BY item, DESCRIPTOR(ts), INTERVAL '2' SECOND)) GROUP BY window_start, window_end, item"
    )
    found: Counter[Any] = Counter()
    ops: Counter[str] = Counter()
    for run, upto in enumerate((2, 4)):
        write_files(tmp_path / "in", batches[:upto])
        one = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=run == 1)
        create_table(one, "bid", BIDS.format(delay=0), tmp_path / "in")
        for op, *row in one.sql(f"{query} EMIT ON UPDATE WITH LATENESS INTERVAL '1' HOUR").collect():
            found[tuple(row)] += 1 if op[0] == "+" else -1
            ops[op] += 1
    _, batch = sessions(spark, tmp_path / "in", delay=0)
    assert +found == Counter(tuple(row) for row in batch.sql(query).collect())
    assert min(found.values()) == 0
    assert min(ops[op] for op in ("+I", "-D", "-U", "+U")) > 0
    assert one.counts["stateRows"] == 0


@pytest.mark.spark
def test_increments_and_late_rows_add_up_to_batch(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "in", some_batches(seed=7, disorder=40, batches=3))
    stream, batch = sessions(spark, tmp_path / "in", delay=0)
    create_table(stream, "late", "item STRING, n INT, window_end TIMESTAMP(3)", tmp_path / "late")
    for key, value in {**EARLY, **LATE, "table.exec.emit.allow-lateness": "5 s"}.items():
        stream.execute(f"SET '{key}' = '{value}'")
    stream.execute("SET 'tvfsql.emit.late' = 'purge'; SET 'tvfsql.late-output' = 'late'")
    query = (
        f"SELECT window_end, item, COUNT(*) AS bids, MAX(n) AS most FROM TABLE({WINDOWS['tumble']}) "
        "GROUP BY window_start, window_end, item"
    )
    rows: list[Any] = stream.sql(query).collect()
    late = spark.read.schema("item STRING, n INT, window_end TIMESTAMP_NTZ").json(str(tmp_path / "late")).collect()
    assert stream.counts["numLateRecordsWritten"] == len(late) > 50
    parts = [(row.window_end, row.item, row.bids, row.most) for row in rows]
    parts += [(row.window_end, row.item, 1, row.n) for row in late]
    expected = {(row.window_end, row.item): (row.bids, row.most) for row in batch.sql(query).collect()}
    found = {
        key: (
            sum(bids for *at, bids, _ in parts if tuple(at) == key),
            max(n for *at, _, n in parts if tuple(at) == key),
        )
        for key in expected
    }
    assert found == expected
    assert len(rows) > len(expected)


@pytest.mark.spark
def test_early_results_come_though_no_more_rows_do(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "in", [[{"ts": "2020-04-15 08:00:01", "item": "A", "n": 1}]])
    session = Session(spark, mode="streaming", options={**EARLY, "table.exec.emit.early-fire.delay": "2 s"})
    create_table(session, "bid", BIDS.format(delay=0), tmp_path / "in")
    query = session.sql(
        f"SELECT item, COUNT(*) AS n FROM TABLE({WINDOWS['tumble']}) GROUP BY window_start, window_end, item"
    ).query
    rows: list[Any] = []
    batches: list[int] = []

    def take(batch: Any, number: int) -> None:
        batches.append(number)
        rows.extend(batch.collect())

    def build() -> Any:
        return query.dataframe(spark).writeStream.foreachBatch(take)

    running = Running(spark, [Stream(build, LocalPlace(tmp_path / "state"), endless=True)])
    until = time.monotonic() + 60
    while not rows and running.active and time.monotonic() < until:
        time.sleep(0.1)
    running.stop()
    running.wait()
    assert [tuple(row) for row in rows] == [("+I", "A", 1)]
    assert len(batches) > 1


@pytest.mark.spark
def test_each_insert_of_a_set_emits_as_it_says(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "in", some_batches(seed=6, disorder=40, batches=3))
    session, batch = sessions(spark, tmp_path / "in", delay=0)
    for name, op, more in (("totals", "op STRING, ", ", 'changelog.op' = 'op'"), ("closed", "", "")):
        for each in (session, batch):
            each.execute(
                f"CREATE TABLE {name} ({op}{COLUMNS}) WITH ('connector' = 'filesystem', "
                f"'path' = '{tmp_path}/{name}', 'format' = 'parquet'{more})"
            )
    query = TOTALS.format(window=WINDOWS["tumble"])
    session.execute(
        f"EXECUTE STATEMENT SET BEGIN INSERT INTO totals {query} EMIT ON UPDATE WITH LATENESS INTERVAL '1' HOUR; "
        f"INSERT INTO closed {query} EMIT ON WINDOW CLOSE; END"
    )
    expected = batch.sql(query).collect()
    assert bag(batch.sql("SELECT * FROM totals").collect()) == Counter(repr(row) for row in renamed(expected, batch))
    ops = Counter(row.op for row in spark.read.parquet(str(tmp_path / "totals")).collect())
    assert ops["-U"] > 10
    closed = Counter((row.window_end, row.item) for row in spark.read.parquet(str(tmp_path / "closed")).collect())
    assert len(closed) > 10
    assert max(closed.values()) == 1
