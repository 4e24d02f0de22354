"""The INSERTs of a statement set give the rows that their queries give alone, in batch and on streams.

Every INSERT reads one view, several times and in several ways: filters, UNION ALL, joins with itself, share of a total,
Top-N, aggregates of aggregates.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.examples import SOAK
from tests.support.golden import assigned_again
from tvfsql import Session
from tvfsql.api.program import code_of
from tvfsql.api.script import Script, queries_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = """CREATE TABLE t (k INT, x BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'json');
"""
VIEW = """CREATE VIEW a AS SELECT window_start AS ws, window_end AS we, k, COUNT(*) AS n
FROM TABLE({}(TABLE t, DESCRIPTOR(ts), {})) GROUP BY window_start, window_end, k;
"""
WINDOWS = ["'10' SECOND", "'5' SECOND, INTERVAL '20' SECOND", "'10' SECOND, INTERVAL '30' SECOND"]
SINK = """CREATE TABLE o{0} (ws TIMESTAMP(3), we TIMESTAMP(3), k INT, n BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{1}', 'format' = 'json');
"""
SETS = 12 if SOAK else 1


def rows_of(draw: random.Random, depth: int) -> str:
    """A random query over the view, with its columns."""
    if depth == 0:
        return "SELECT ws, we, k, n FROM a"

    def part() -> str:
        return f"({rows_of(draw, draw.randrange(depth))})"

    match draw.randrange(6):
        case 0:
            return f"SELECT * FROM {part()} WHERE n {draw.choice(['>', '<', '<>'])} {draw.randrange(1, 8)}"
        case 1:
            return f"SELECT * FROM {part()} WHERE n > {draw.randrange(6)} UNION ALL SELECT * FROM {part()} WHERE k < 3"
        case 2:
            same = "l.ws = r.ws AND l.we = r.we AND l.k = r.k"
            return f"SELECT l.ws, l.we, l.k, l.n + r.n AS n FROM {part()} l JOIN {part()} r ON {same}"
        case 3:
            total = f"SELECT ws, we, SUM(n) AS total FROM {part()} GROUP BY ws, we"
            share = "SELECT l.ws, l.we, l.k, l.n * 1000 + r.total AS n"
            return f"{share} FROM {part()} l JOIN ({total}) r ON l.ws = r.ws AND l.we = r.we"
        case 4:
            place = "ROW_NUMBER() OVER (PARTITION BY ws, we ORDER BY n DESC, k) AS place"
            return f"SELECT ws, we, k, n FROM (SELECT *, {place} FROM {part()}) WHERE place <= {draw.randrange(1, 4)}"
    return f"SELECT ws, we, half AS k, SUM(n) AS n FROM (SELECT *, k / 2 AS half FROM {part()}) GROUP BY ws, we, half"


def random_set(seed: int, inserts: int) -> tuple[str, list[str]]:
    """A view, and queries over it."""
    draw = random.Random(seed)
    window = draw.choice(["TUMBLE", "HOP", "CUMULATE"])
    view = VIEW.format(window, f"INTERVAL {WINDOWS[['TUMBLE', 'HOP', 'CUMULATE'].index(window)]}")
    twice = "SELECT * FROM a WHERE n > 5 UNION ALL SELECT * FROM a WHERE n < 3"
    return view, ["SELECT * FROM a", twice, *(rows_of(draw, 2) for _ in range(inserts - 2))]


def statements(view: str, queries: list[str], folder: Path) -> str:
    sinks = "".join(SINK.format(i, folder / str(i)) for i in range(len(queries)))
    inserts = "".join(f"INSERT INTO o{i} {query};\n" for i, query in enumerate(queries))
    return f"{TABLE.format(folder.parent / 't')}{view}{sinks}EXECUTE STATEMENT SET BEGIN\n{inserts}END;"


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_a_program_assigns_a_variable_once(mode: str, tmp_path: Path) -> None:
    for seed in range(2000 if SOAK else 25):
        view, queries = random_set(seed, 5)
        outcomes = Script(mode=mode).outcomes(statements(view, queries, tmp_path / "out"))
        program = code_of([queries_of(outcome) for outcome in outcomes])
        assert assigned_again(program) == [], program


def test_an_assignment_of_a_name_that_has_a_value_is_found() -> None:
    program = "def query(rows):\n    a = rows.x()\n    a = a.y()\n    rows = a"
    assert assigned_again(program) == ["query: a", "query: rows"]


@pytest.mark.spark
@pytest.mark.parametrize("seed", range(SETS))
def test_inserts_of_a_set_give_what_their_queries_give_alone(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    (tmp_path / "t").mkdir()
    rows = [
        {"k": draw.randrange(5), "x": draw.randrange(9), "ts": f"2024-01-01 00:{draw.randrange(2):02}:{second:02}"}
        for second in range(60)
        for _ in range(draw.randrange(4))
    ]
    (tmp_path / "t" / "rows.json").write_text("\n".join(map(json.dumps, rows)))
    view, queries = random_set(seed, 12)
    with Session(spark) as alone:
        alone.execute(TABLE.format(tmp_path / "t") + view)
        expected = [alone.sql(query).collect() for query in queries]
    assert all(expected[:2])
    for mode in ("batch", "streaming"):
        folder = tmp_path / mode
        with Session(spark, mode=mode) as session:
            session.execute(statements(view, queries, folder))
        for i, query in enumerate(queries):
            assert _written(folder / str(i)) == Counter(map(_as_json, expected[i])), f"{mode}: {query}"


def _written(folder: Path) -> Counter[tuple[Any, ...]]:
    lines = (line for file in folder.glob("*.json") for line in file.read_text().splitlines())
    return Counter((row["ws"][:19].replace("T", " "), row["k"], row["n"]) for row in map(json.loads, lines))


def _as_json(row: Any) -> tuple[Any, ...]:
    return str(row.ws), row.k, row.n
