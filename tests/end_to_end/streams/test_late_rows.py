"""Late rows go into tables, whatever the query is: the rows of the result and the late rows are all rows.

The model of lateness is a sentence: a row is late if the watermark before its micro-batch has reached the last
millisecond of its window, or its own time where there is no window.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bids import create_table, write_files
from tests.support.examples import SOAK
from tvfsql import Session
from tvfsql.testing.read import read_suite
from tvfsql.testing.run import run_case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
TABLES = """
CREATE TABLE bid (n BIGINT, item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'bid', 'format' = 'json', 'maxFilesPerTrigger' = '1');
CREATE TABLE sale (n BIGINT, item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'sale', 'format' = 'json', 'maxFilesPerTrigger' = '1');
CREATE TABLE late (table_name STRING, n BIGINT, window_end TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'late', 'format' = 'json');
SET 'tvfsql.late-output' = 'late';
"""
TUMBLE = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
GROUPED = "SELECT window_start, window_end, item, ARRAY_AGG(n) AS ns FROM {} GROUP BY window_start, window_end, item"
Late = Callable[[int, int], bool]  # of a row's time and the watermark, in seconds and milliseconds


def window_late(ts: int, watermark: int) -> bool:
    return (ts // 10 + 1) * 10_000 - 1 <= watermark


def time_late(ts: int, watermark: int) -> bool:
    return ts * 1000 <= watermark


@dataclass(frozen=True)
class Shape:
    """A query whose rows say which rows of its sources they are made of: a number or a list of numbers per source."""

    sql: str
    sources: tuple[str, ...] = ("bid",)
    columns: tuple[str, ...] = ("ns",)
    late: Late = window_late
    copies: int = 1  # how often a row is in the result


SHAPES = {
    "cascade": Shape(
        "SELECT window_end, n, COUNT(*) AS bids FROM (SELECT window_start, window_end, item, n "
        f"FROM {TUMBLE.format('bid')} GROUP BY window_start, window_end, item, n) GROUP BY window_start, window_end, n",
        columns=("n",),
    ),
    "larger windows": Shape(
        "SELECT window_start, window_end, ARRAY_AGG(n) AS ns FROM TABLE(TUMBLE((SELECT window_time AS at, n FROM "
        f"{TUMBLE.format('bid')} GROUP BY window_start, window_end, window_time, n), DESCRIPTOR(at), "
        "INTERVAL '1' MINUTE)) GROUP BY window_start, window_end",
    ),
    "window join": Shape(
        f"SELECT b.n AS bids, s.n AS sales FROM (SELECT * FROM {TUMBLE.format('bid')}) b FULL JOIN "
        f"(SELECT * FROM {TUMBLE.format('sale')}) s ON b.window_start = s.window_start "
        "AND b.window_end = s.window_end AND b.item = s.item",
        ("bid", "sale"),
        ("bids", "sales"),
    ),
    "union below": Shape(
        GROUPED.format(
            "TABLE(TUMBLE((SELECT n, item, ts FROM bid UNION ALL SELECT n, item, ts FROM sale), DESCRIPTOR(ts), "
            "INTERVAL '10' SECOND))"
        ),
        ("bid", "sale"),
    ),
    "union above": Shape(
        f"SELECT ns, item FROM ({GROUPED.format(TUMBLE.format('bid'))}) UNION ALL "
        f"SELECT ns, item FROM ({GROUPED.format(TUMBLE.format('sale'))})",
        ("bid", "sale"),
    ),
    "ranking": Shape(
        "SELECT n FROM (SELECT n, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n) AS place "
        f"FROM {TUMBLE.format('bid')}) WHERE place <= 1000",
        columns=("n",),
    ),
    "grouping sets": Shape(
        f"SELECT window_end, item, ARRAY_AGG(n) AS ns FROM {TUMBLE.format('bid')} "
        "GROUP BY GROUPING SETS ((window_start, window_end, item), (window_start, window_end))",
        copies=2,
    ),
    "first rows": Shape(
        "SELECT n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY n ORDER BY ts) AS place FROM bid) WHERE place = 1",
        columns=("n",),
        late=time_late,
    ),
    "interval join": Shape(
        "SELECT bid.n AS bids, sale.n AS sales FROM bid FULL JOIN sale ON bid.item = sale.item "
        "AND bid.ts BETWEEN sale.ts - INTERVAL '5' SECOND AND sale.ts + INTERVAL '5' SECOND",
        ("bid", "sale"),
        ("bids", "sales"),
        time_late,
    ),
    "after deduplication": Shape(
        "SELECT window_end, ARRAY_AGG(n) AS ns FROM TABLE(TUMBLE((SELECT n, ts FROM (SELECT *, ROW_NUMBER() OVER "
        "(PARTITION BY n ORDER BY ts) AS place FROM bid) WHERE place = 1), DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
        "GROUP BY window_start, window_end",
        late=time_late,
    ),
    "current watermark": Shape(
        "SELECT window_end, ARRAY_AGG(n) AS ns FROM TABLE(TUMBLE((SELECT n, ts, CURRENT_WATERMARK(ts) AS mark "
        "FROM bid), DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end",
    ),
}
USUAL = ("larger windows", "interval join")


def random_steps(draw: random.Random, sources: Iterable[str]) -> list[dict[str, list[tuple[int, str, int]]]]:
    """Micro-batches of rows (n, item, seconds) of each source, of several sizes. Some are far behind."""
    steps, now, n = [], 30, 0
    for size in (1, 12, 3, 25, 8):
        step: dict[str, list[tuple[int, str, int]]] = {}
        for source in sources:
            rows = []
            for _ in range(size):
                now += draw.randrange(3)
                n += 1
                rows.append((n, draw.choice("ab"), max(0, now - draw.choice([0, 2, 5, 14, 40]))))
            step[source] = rows
        steps.append(step)
    return steps


def late_by_model(steps: list[dict[str, list[tuple[int, str, int]]]], shape: Shape, *, apart: bool) -> set[int]:
    """The numbers of the late rows. `apart`: each source has an operator, and so a watermark, of its own."""
    marks: dict[str, int] = {}
    late = set()
    for step in steps:
        for source, rows in step.items():
            counting = [source] if apart else shape.sources
            watermark = min((marks.get(each, -1) for each in counting), default=-1)
            late |= {n for n, _, ts in rows if all(each in marks for each in counting) and shape.late(ts, watermark)}
        for source, rows in step.items():
            marks[source] = max(marks.get(source, -1), max(ts for *_, ts in rows) * 1000 - 1000)
    return late


def time_of(seconds: int) -> str:
    return f"2020-04-15 08:{seconds // 60:02}:{seconds % 60:02}"


def as_json(rows: list[tuple[int, str, int]]) -> list[str]:
    return [json.dumps({"n": n, "item": item, "ts": time_of(ts)}) for n, item, ts in rows]


@pytest.mark.soak
@pytest.mark.parametrize("name", SHAPES if SOAK else USUAL)
def test_results_and_late_rows_are_all_rows(name: str, tmp_path: Path, spark: SparkSession) -> None:
    """In micro-batches of several sizes, stopped and resumed after the third one."""
    shape = SHAPES[name]
    steps = random_steps(random.Random(name), shape.sources)
    (tmp_path / "s.sql").write_text(f"{TABLES}{shape.sql};", encoding="utf-8")
    text = "script: s.sql\ntests:\n  - name: one\n    steps:\n"
    for i, step in enumerate(steps):
        rows = ", ".join(f"{source}: [{', '.join(as_json(of))}]" for source, of in step.items())
        text += f"      - {'restart: true' + chr(10) + '        ' if i == 3 else ''}rows: {{{rows}}}\n"
    file = tmp_path / "s.tvfsql.yaml"
    file.write_text(text + "      - end: true\n", encoding="utf-8")
    suite = read_suite(file)
    result = run_case(suite, suite.cases[0], spark)
    assert result.error is None, result.error
    found = Counter[int]()
    late = Counter[int]()
    tables = {n: source for step in steps for source, rows in step.items() for n, *_ in rows}
    for given in result.steps:
        query = given.given["query"]
        for row in query.rows:
            told = dict(zip(query.columns, row, strict=True))
            found.update(n for column in shape.columns for n in numbers(told[column]))
        kept = [dict(zip(given.given["late"].columns, row, strict=True)) for row in given.given["late"].rows]
        assert given.late == len(kept) * shape.copies
        late.update(row["n"] for row in kept)
        assert all(row["table_name"] == tables[row["n"]] for row in kept)
        assert all((row["window_end"] is None) == (shape.late is time_late) for row in kept)
    assert {*late} == late_by_model(steps, shape, apart=name == "union above")
    assert {*late.values()} == {1} and 5 < len(late) < len(tables) - 5
    assert {*found} == {*tables} - {*late}
    if "join" not in name:
        assert {*found.values()} == {shape.copies}


def numbers(value: Any) -> Iterable[int]:
    return () if value is None else value if isinstance(value, list) else (value,)


@pytest.mark.soak
def test_tables_of_their_own_for_late_rows_after_a_restart(tmp_path: Path, spark: SparkSession) -> None:
    """A table for the late rows of each source, on Spark, in two runs over one checkpoint."""
    shape = SHAPES["window join"]
    steps = random_steps(random.Random(3), shape.sources)
    tables = TABLES.replace("'path' = '", f"'path' = '{tmp_path}/").replace("SET 'tvfsql.late-output' = 'late';", "")
    tables = tables.replace("late (table_name STRING, n", "late_bids (n", 1)
    tables = tables.replace("/bid', 'format'", "/bid', 'tvfsql.late-output' = 'late_bids', 'format'")
    tables = tables.replace("/sale', 'format'", "/sale', 'tvfsql.late-output' = 'late_sales', 'format'")
    tables += f"CREATE TABLE late_sales (item STRING, n BIGINT) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/late-sales');"  # noqa: E501
    found, late = set[int](), 0
    for upto in (3, len(steps)):
        for source in shape.sources:
            (tmp_path / source).mkdir(exist_ok=True)
            for i, step in enumerate(steps[:upto]):
                file = tmp_path / source / f"{i}.json"
                if not file.exists():
                    file.write_text("\n".join(as_json(step[source])), encoding="utf-8")
        session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=upto == len(steps))
        session.execute(tables)
        for row in session.sql(shape.sql).collect():
            found |= {n for n in row if n is not None}
        late += session.counts.get("numLateRecordsWritten", 0)
    kept = {name: spark.read.json(str(tmp_path / name)).collect() for name in ("late", "late-sales")}
    assert sum(map(len, kept.values())) == late > 5 and all(kept.values())
    for name, source in (("late", "bid"), ("late-sales", "sale")):
        of_source = {n for step in steps for n, *_ in step[source]}
        numbers_late = {row.n for row in kept[name]}
        assert len(numbers_late) == len(kept[name]) and numbers_late < of_source
        assert found & of_source == of_source - numbers_late


def test_a_late_row_of_several_windows_has_the_name_of_the_one_that_it_missed(
    tmp_path: Path, spark: SparkSession
) -> None:
    write_files(
        tmp_path / "bid",
        [
            [{"n": 1, "item": "a", "ts": "2024-01-01 00:00:30"}, {"n": 2, "item": "a", "ts": "2024-01-01 00:02:01"}],
            [{"n": 3, "item": "a", "ts": "2024-01-01 00:00:45"}],
        ],
    )
    session = Session(spark, mode="streaming")
    session.execute(TABLES.split(";")[0].replace("'path' = '", f"'path' = '{tmp_path}/"))
    create_table(session, "late", "n BIGINT, window_name STRING, window_end TIMESTAMP(3)", tmp_path / "late")
    session.execute("SET 'tvfsql.late-output' = 'late'")
    session.sql(
        "SELECT window_name, window_end, COUNT(*) AS n FROM TABLE(WINDOWS(TABLE bid, DESCRIPTOR(ts), "
        "TUMBLE(INTERVAL '1' MINUTE) AS minute, TUMBLE(INTERVAL '1' HOUR) AS hour)) "
        "GROUP BY window_name, window_start, window_end"
    ).collect()
    late = spark.read.json(str(tmp_path / "late")).select("n", "window_name", "window_end").collect()
    assert [(row.n, row.window_name, row.window_end[:19].replace("T", " ")) for row in late] == [
        (3, "minute", "2024-01-01 00:01:00")
    ]
