"""WINDOWS gives the rows of a query for each window, in one pass or not, in batch and on streams."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.support.bids import BIDS, create_table, some_batches, write_files
from tests.support.examples import SOAK
from tvfsql import Session
from tvfsql.api.script import queries_of
from tvfsql.physical.operators import TableSourceScan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULE = "aggregate_windows_in_one_pass"
WINDOWS = {
    "minute": ("TUMBLE", "INTERVAL '1' MINUTE"),
    "hour": ("HOP", "INTERVAL '1' MINUTE, INTERVAL '1' HOUR"),
    "odd": ("HOP", "INTERVAL '4' MINUTE, INTERVAL '6' MINUTE, INTERVAL '1' MINUTE"),
    "day": ("CUMULATE", "INTERVAL '10' MINUTE, INTERVAL '1' DAY"),
}
CALLS = """COUNT(*) AS n, COUNT(x) AS known, SUM(x) AS total, AVG(x) AS middle, MIN(s) AS first, MAX(s) AS last,
    STDDEV_POP(x) AS spread, SUM(x) FILTER (WHERE x > 0) AS gains, FIRST_VALUE(x) AS opening"""


def query(session: Session, text: str) -> Counter[tuple[object, ...]]:
    rows = session.execute(text)[-1].collect()
    return Counter(tuple(f"{each:.9g}" if isinstance(each, float) else each for each in row) for row in rows)


@pytest.mark.spark
def test_windows_are_those_of_queries_alone(spark: SparkSession, tmp_path: Path) -> None:
    random = Random(42)
    minutes = sorted(random.choices(range(3 * 60), k=300))
    lines = [
        f"2024-03-01 {9 + m // 60:02}:{m % 60:02}:{random.randrange(60):02},{random.choice('abc')},"
        f"{random.choice(['', '1.50', '-2.25', '7.00'])},{random.choice(['x', 'y', ''])}"
        for m in minutes
    ]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "rows.csv").write_text("\n".join(lines) + "\n")
    table = f"""CREATE TABLE t (ts TIMESTAMP(3), k STRING, x DECIMAL(10, 2), s STRING,
        WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path / "in"}', 'format' = 'csv')"""
    keys = "window_start, window_end, window_time"
    alone = " UNION ALL ".join(
        f"SELECT '{name}' AS name, {keys}, k, {CALLS} FROM TABLE({function}(TABLE t, DESCRIPTOR(ts), {lengths})) "
        f"GROUP BY {keys}, k HAVING COUNT(*) > 1"
        for name, (function, lengths) in WINDOWS.items()
    )
    several = ", ".join(f"{function}({lengths}) AS {name}" for name, (function, lengths) in WINDOWS.items())
    together = (
        f"SELECT window_name, {keys}, k, {CALLS} FROM WINDOWS(TABLE t, DESCRIPTOR(ts), {several}) "
        f"GROUP BY window_name, {keys}, k HAVING COUNT(*) > 1"
    )
    without = Session(spark, mode="batch", options={"tvfsql.rules.disabled": RULE})
    without.execute(table)
    expected = query(without, alone)
    assert {row[0] for row in expected} == {*WINDOWS}
    for mode in ("batch", "streaming"):
        session = Session(spark, mode=mode)
        session.execute(table)
        fired = {step.rule for step in session.execute(f"{together}")[-1].query.steps}
        assert RULE in fired
        assert query(session, together) == expected, mode


SINKS = """
CREATE TABLE late (n INT, item STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = '{folder}-late', 'format' = 'json');
CREATE TABLE totals (name STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), window_time TIMESTAMP(3),
    item STRING, n BIGINT, total DECIMAL(38, 2), most INT)
WITH ('connector' = 'filesystem', 'path' = '{folder}-out', 'format' = 'json')"""
LENGTHS = {
    "TUMBLE": ("2", "6", "10", "20"),
    "HOP": ("2:10", "4:6", "6:20", "2:30"),
    "CUMULATE": ("2:10", "4:20", "10:60"),
}


def some_windows(random: Random) -> dict[str, str]:
    """Windows whose slices are those of one of 2 seconds, by their names."""
    made = {"shortest": "TUMBLE({}, INTERVAL '2' SECOND)"}
    for i in range(random.randint(1, 4)):
        function = random.choice([*LENGTHS])
        lengths = [f"INTERVAL '{each}' SECOND" for each in random.choice(LENGTHS[function]).split(":")]
        offset = random.choice(["", "", ", INTERVAL '2' SECOND", ", INTERVAL '-6' SECOND"])
        made[f"w{i}"] = f"{function}({{}}, {', '.join(lengths)}{offset})"
    return made


@pytest.mark.spark
@pytest.mark.parametrize("seed", range(1, 6) if SOAK else [1])
def test_streams_drop_and_keep_late_rows_as_queries_alone_and_go_on_after_a_stop(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    """Micro-batches that are out of order by more than most windows; a stop with windows open."""
    batches, windows = some_batches(seed, disorder=25, batches=4, rows=60), some_windows(Random(seed))
    keys, calls = "window_start, window_end, window_time", "COUNT(*) AS n, SUM(price) AS total, MAX(n) AS most"
    several = ", ".join(f"{window.replace('{}, ', '')} AS {name}" for name, window in windows.items())
    queries = {
        "together": f"SELECT window_name, {keys}, item, {calls} FROM WINDOWS(TABLE bid, DESCRIPTOR(ts), {several}) "
        f"GROUP BY window_name, {keys}, item",
        "apart": " UNION ALL ".join(
            f"SELECT '{name}' AS name, {keys}, item, {calls} FROM TABLE({window.format('TABLE bid, DESCRIPTOR(ts)')}) "
            f"GROUP BY {keys}, item"
            for name, window in windows.items()
        ),
    }
    found = {}
    for way, text in queries.items():
        folder = tmp_path / way
        for upto in (2, 4):
            write_files(folder, batches[:upto])
            options = {"tvfsql.late-output": "late"} | ({"tvfsql.rules.disabled": RULE} if way == "apart" else {})
            session = Session(
                spark, mode="streaming", checkpoint=tmp_path / f"{way}-kept", final=upto == 4, options=options
            )
            create_table(session, "bid", BIDS.format(delay=3), folder)
            session.execute(SINKS.format(folder=folder))
            session.execute(f"INSERT INTO totals {text}")
        batch = Session(spark, mode="batch")
        batch.execute(SINKS.format(folder=folder))
        found[way] = {name: query(batch, f"SELECT * FROM {name}") for name in ("totals", "late")}
    assert found["together"] == found["apart"]
    assert found["together"]["late"].total() > 0 < found["together"]["totals"].total()


RULES = f"{RULE}, rank_windows_in_one_pass, aggregate_windows_of_readers_in_one_pass"
GROUPED = "SELECT window_start, window_end, item, {} FROM TABLE({}) GROUP BY window_start, window_end, item"
TEN = "TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
LAST = "HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '30' SECOND)"
READERS = {
    "join": f"""SELECT a.window_end, a.item, a.n, b.total FROM ({GROUPED.format("COUNT(*) AS n", TEN)}) AS a
        JOIN ({GROUPED.format("SUM(price) AS total", LAST)}) AS b ON a.window_end = b.window_end AND a.item = b.item""",
    "outer join": f"""SELECT b.window_end, b.item, a.most, b.n FROM ({GROUPED.format("MAX(n) AS most", TEN)}) AS a
        RIGHT JOIN ({GROUPED.format("COUNT(*) AS n", LAST)}) AS b ON a.window_end = b.window_end AND a.item = b.item""",
    "other columns": f"""SELECT window_end, UPPER(item) AS item, n + 1 AS n
        FROM ({GROUPED.format("COUNT(*) AS n", TEN)}) WHERE n > 2
        UNION ALL SELECT window_start, item, most FROM ({GROUPED.format("MAX(n) AS most", LAST)})""",
    "ranks": """SELECT window_name, window_end, item, total FROM (SELECT *, ROW_NUMBER() OVER (
        PARTITION BY window_name, window_start, window_end ORDER BY total DESC, item) AS place FROM (
            SELECT window_name, window_start, window_end, item, SUM(n) AS total FROM WINDOWS(
                TABLE bid, DESCRIPTOR(ts), TUMBLE(INTERVAL '10' SECOND) AS ten,
                HOP(INTERVAL '10' SECOND, INTERVAL '30' SECOND) AS last)
            GROUP BY window_name, window_start, window_end, item)) WHERE place <= 2""",
}


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_readers_of_several_windows_have_the_rows_without_the_rules(
    spark: SparkSession, tmp_path: Path, mode: str
) -> None:
    write_files(tmp_path / "in", some_batches(3, disorder=15, batches=3, rows=60))
    sessions = [Session(spark, mode=mode), Session(spark, mode=mode, options={"tvfsql.rules.disabled": RULES})]
    for session in sessions:
        create_table(session, "bid", BIDS.format(delay=3), tmp_path / "in")
    for name, text in READERS.items():
        on, off = (query(session, text) for session in sessions)
        fired = {step.rule for step in sessions[0].execute(text)[-1].query.steps} & {*RULES.split(", ")}
        assert on == off and on, name
        assert fired, name


@pytest.mark.spark
def test_a_statement_set_of_several_windows_is_one_stream(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "in", some_batches(4, disorder=15, batches=3, rows=60))
    found = {}
    for way in ("together", "apart"):
        options = {"tvfsql.rules.disabled": RULES} if way == "apart" else {}
        session = Session(spark, mode="streaming", checkpoint=tmp_path / f"{way}-kept", final=True, options=options)
        create_table(session, "bid", BIDS.format(delay=3), tmp_path / "in")
        for name in "ab":
            session.execute(
                f"CREATE TABLE {name} (e TIMESTAMP(3), item STRING, v BIGINT) WITH ('connector' = 'filesystem', "
                f"'path' = '{tmp_path / way / name}', 'format' = 'json')"
            )
        session.execute(
            f"""EXECUTE STATEMENT SET BEGIN
            INSERT INTO a SELECT window_end, item, v FROM ({GROUPED.format("COUNT(*) AS v", TEN)}) WHERE v > 1;
            INSERT INTO b SELECT window_end, item, v FROM ({GROUPED.format("CAST(MAX(n) AS BIGINT) AS v", LAST)});
            END"""
        )
        assert len([each for each in (tmp_path / f"{way}-kept").iterdir() if each.name.isdigit()]) == (
            1 if way == "together" else 2
        )
        found[way] = {name: Counter(map(tuple, spark.read.json(str(tmp_path / way / name)).collect())) for name in "ab"}
    assert found["together"] == found["apart"]
    assert all(found["together"].values())


@pytest.mark.spark
def test_a_statement_set_of_several_windows_has_the_rows_of_inserts_alone_in_batch(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_files(tmp_path / "in", some_batches(5, disorder=15, batches=3, rows=60))
    hours = "CUMULATE(TABLE bid, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '1' MINUTE)"
    inserts = {
        "a": f"SELECT window_end, item, v FROM ({GROUPED.format('COUNT(*) AS v', TEN)}) WHERE v > 1",
        "b": f"SELECT window_end, item, v FROM ({GROUPED.format('CAST(MAX(n) AS BIGINT) AS v', LAST)})",
        "c": f"SELECT window_start, item, CAST(m AS BIGINT) FROM ({GROUPED.format('AVG(price) AS m', LAST)})",
        "d": f"SELECT window_end, item, v FROM ({GROUPED.format('COUNT(DISTINCT n) AS v', hours)}) WHERE item <> 'b'",
    }
    found = {}
    for way in ("together", "apart"):
        options = {"table.optimizer.reuse-sub-plan-enabled": "false"} if way == "apart" else {}
        session = Session(spark, mode="batch", options=options)
        create_table(session, "bid", BIDS.format(delay=3), tmp_path / "in")
        for name in inserts:
            session.execute(
                f"CREATE TABLE {name} (e TIMESTAMP(3), item STRING, v BIGINT) WITH ('connector' = 'filesystem', "
                f"'path' = '{tmp_path / way / name}', 'format' = 'json')"
            )
        made = "; ".join(f"INSERT INTO {name} {text}" for name, text in inserts.items())
        text = f"EXECUTE STATEMENT SET BEGIN {made}; END"
        queries = [query for outcome in session.script.outcomes(text) for query in queries_of(outcome)]
        scans = [node for query in queries for node in query.physical.walk() if isinstance(node, TableSourceScan)]
        assert len(scans) == (2 if way == "together" else 4)  # DISTINCT stays apart
        session.execute(text)
        found[way] = {
            name: Counter(map(tuple, spark.read.json(str(tmp_path / way / name)).collect())) for name in inserts
        }
    assert found["together"] == found["apart"]
    assert all(found["together"].values())
