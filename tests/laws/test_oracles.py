"""Laws that hold for every query, tried on random ones: two texts that mean the same give the same rows."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.models.random_queries import COLUMNS, WINDOW, Grammar, random_lines, random_query
from tests.models.random_windows import IN_PYTHON, RULES_OFF, STRATEGY
from tests.support.examples import SOAK
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.soak]
SEED = random.randrange(2**32) if SOAK else 7
QUERIES, STREAMS = (150, 60) if SOAK else (4, 2)
SIZES = (10, 60, 300, 1800)  # seconds
WITH_WINDOW = ("rows", "distinct", "aggregates", "grouping sets", "Top-N", "Top-N of aggregates")
FILES = "'connector' = 'filesystem', 'path' = '{}', 'format' = 'json'"
CREATE = f"CREATE TABLE t ({COLUMNS}, WATERMARK FOR ts AS ts) WITH ({FILES})"


def tumble(size: int) -> str:
    return f"TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '{size}' SECOND)"


def sliced(kind: str, slide: int, size: int) -> str:
    """HOP or CUMULATE."""
    return f"{kind}(TABLE t, DESCRIPTOR(ts), INTERVAL '{slide}' SECOND, INTERVAL '{size}' SECOND)"


class Table:
    """A table of random rows."""

    def __init__(self, spark: SparkSession, folder: Path, draw: random.Random) -> None:
        self.spark = spark
        (folder / "t").mkdir()
        (folder / "t" / "rows.json").write_text(random_lines(draw, 200), encoding="utf-8")
        self.create = CREATE.format(folder / "t")

    def rows(self, sql: str, mode: str = "batch", options: Mapping[str, str] | None = None) -> Counter[Any]:
        """What a query gives."""
        session = Session(self.spark, mode=mode, options=options or {})
        session.execute(self.create)
        try:
            return Counter(map(tuple, session.sql(sql).collect()))
        except Exception as error:
            raise AssertionError(f"seed {SEED}, {mode}, {options}: {sql}") from error

    def assert_same(self, first: str, second: str) -> None:
        same(self.rows(first), self.rows(second), f"{first}\n{second}")


def same(first: Counter[Any], second: Counter[Any], sql: str) -> None:
    lacks, more = ([*rows.elements()][:3] for rows in (first - second, second - first))
    assert not (lacks or more), f"seed {SEED}: {sql}\nonly in the first: {lacks}\nonly in the second: {more}"


@pytest.fixture
def draw() -> random.Random:
    return random.Random(SEED)


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path, draw: random.Random) -> Table:
    return Table(spark, tmp_path, draw)


def test_hops_and_cumulates_of_one_slice_are_tumbles(table: Table, draw: random.Random) -> None:
    for _ in range(QUERIES):
        (_, query), size = random_query(draw), draw.choice(SIZES)
        table.assert_same(query(tumble(size)), query(sliced(draw.choice(("HOP", "CUMULATE")), size, size)))


def test_the_last_steps_of_cumulates_are_tumbles(table: Table, draw: random.Random) -> None:
    for _ in range(QUERIES):
        (_, query), size = random_query(draw, WITH_WINDOW), draw.choice(SIZES)
        last = f"SELECT * FROM ({{}}) WHERE TIMESTAMPDIFF(SECOND, window_start, window_end) = {size}"
        table.assert_same(query(tumble(size)), last.format(query(sliced("CUMULATE", size // 5, size))))


def test_neither_phases_nor_rules_change_a_row(table: Table, draw: random.Random) -> None:
    for _ in range(QUERIES):
        (_, query), size = random_query(draw), draw.choice(SIZES)
        sql = query(sliced(draw.choice(("HOP", "CUMULATE")), size // 5, size))
        rows = table.rows(sql)
        for options in {STRATEGY: "ONE_PHASE"}, RULES_OFF, IN_PYTHON:
            same(rows, table.rows(sql, options=options), sql)


def test_what_a_condition_divides_adds_up(table: Table, draw: random.Random) -> None:
    """Rows, and then aggregates, WHERE p, WHERE NOT p and WHERE p IS NULL."""
    for _ in range(QUERIES):
        grammar, size = Grammar(draw), draw.choice(SIZES)
        condition = grammar.condition()
        parts = (condition, f"NOT {condition}", f"({condition}) IS UNKNOWN")
        columns = ", ".join(f"{column} AS c{i}" for i, column in enumerate(grammar.row()))
        rows = f"SELECT id, {columns}, {WINDOW} FROM TABLE({tumble(size)})"
        table.assert_same(rows, " UNION ALL ".join(f"{rows} WHERE {part}" for part in parts))

        text, number = grammar.text(), grammar.number()
        calls = f"COUNT(*) AS a, COUNT({text}) AS b, SUM({number}) AS c, MIN({text}) AS d, MAX({number}) AS e"
        window, group = sliced("HOP", size // 5, size), f"GROUP BY {WINDOW}, k"
        whole = f"SELECT k, {WINDOW}, {calls} FROM TABLE({window})"
        divided = " UNION ALL ".join(f"{whole} WHERE {part} {group}" for part in parts)
        summed = "SUM(a), SUM(b), SUM(c), MIN(d), MAX(e)"
        table.assert_same(f"{whole} {group}", f"SELECT k, {WINDOW}, {summed} FROM ({divided}) {group}")


def test_a_join_with_itself_is_the_table(table: Table, draw: random.Random) -> None:
    for window in tumble(60), sliced("HOP", 20, 60):
        on = "a.id = b.id AND a.window_start = b.window_start AND a.window_end = b.window_end"
        rows = f"SELECT id, ts, k, n, {WINDOW} FROM TABLE({window})"
        kind = draw.choice(("", "LEFT ", "RIGHT ", "FULL OUTER "))
        columns = "a.id, a.ts, a.k, b.n, b.window_start, a.window_end"
        table.assert_same(rows, f"SELECT {columns} FROM ({rows}) AS a {kind}JOIN ({rows}) AS b ON {on}")
    table.assert_same("SELECT * FROM t", "SELECT a.* FROM t AS a JOIN t AS b ON a.id = b.id")


def test_streams_give_the_rows_of_batch(table: Table, draw: random.Random) -> None:
    for _ in range(STREAMS):
        (_, query), size = random_query(draw), draw.choice(SIZES)
        sql = query(draw.choice((tumble(size), sliced("HOP", size // 5, size), sliced("CUMULATE", size // 5, size))))
        same(table.rows(sql), table.rows(sql, "streaming"), sql)
