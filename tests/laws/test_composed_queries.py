"""Composed window queries, in batch and on streams, have the rows of DuckDB: queries, the INSERTs of a statement set,
and windows over changelogs. Flink has no answer for most of them in batch, and none for a set as a whole."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.models.composed_queries import (
    TABLES,
    Composer,
    Query,
    bag,
    composed_query,
    composed_set,
    for_duckdb,
    for_tvfsql,
    random_rows,
)
from tests.support.examples import SOAK
from tvfsql import Session

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
SEED = int(os.environ.get("TVFSQL_COMPOSED_SEED", "1"))
QUERIES, SETS, CHANGELOGS = (300, 25, 25) if SOAK else (20, 2, 2)
ROWS = {name: random_rows(number) for number, name in enumerate(TABLES)}
TYPES = {
    "INT": "INT", "BIGINT": "BIGINT", "STRING": "STRING", "BOOLEAN": "BOOLEAN", "DECIMAL": "DECIMAL(38, 2)",
    "TIMESTAMP": "TIMESTAMP(3)",
}  # fmt: skip


@pytest.fixture(scope="module")
def duck() -> Iterator[DuckDBPyConnection]:
    import duckdb

    with duckdb.connect() as made:
        for name, rows in ROWS.items():
            columns = TABLES[name].replace("STRING", "VARCHAR").replace("TIMESTAMP(3)", "TIMESTAMP")
            made.execute(f"CREATE TABLE {name} ({columns})")
            made.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?, ?, ?, ?)", [[*row.values()] for row in rows])
        yield made


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("composed")
    for name, rows in ROWS.items():
        (folder / f"{name}.json").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        changes = (json.dumps(change) + "\n" for change in with_changes(rows))
        (folder / f"{name}_changes.json").write_text("".join(changes), encoding="utf-8")
    return folder


def with_changes(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Changes that leave the rows: others come and go, and updates replace one by another."""
    draw = random.Random(4)
    for row in rows:
        other = {**row, "k": draw.randrange(3), "s": draw.choice("abz"), "n": draw.randrange(-9, 9)}
        kind = draw.randrange(4)
        if kind == 0:
            yield from ({"op": "+I", **other}, {"op": "-U", **other}, {"op": "+U", **row})
        elif kind == 1:
            yield from ({"op": "+I", **row}, {"op": "+I", **other}, {"op": "-D", **other})
        else:
            yield {"op": "+I", **row}


def session(spark: SparkSession, mode: str, files: Path, changelog: bool = False) -> Session:
    made = Session(spark, mode=mode)
    for name, columns in TABLES.items():
        path, op = (f"{name}_changes", "op STRING, ") if changelog else (name, "")
        option = ", 'changelog.op' = 'op'" if changelog else ""
        made.execute(
            f"CREATE TABLE {name} ({op}{columns}, WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) "
            f"WITH ('connector' = 'filesystem', 'path' = '{files}/{path}.json', 'format' = 'json'{option})"
        )
    return made


def expected(duck: DuckDBPyConnection, views: dict[str, str], *queries: str) -> list[list[str]]:
    for name, text in views.items():
        duck.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {for_duckdb(text)}")
    return [bag(duck.execute(for_duckdb(query)).fetchall()) for query in queries]


def create(views: dict[str, str]) -> str:
    return "".join(f"CREATE OR REPLACE VIEW {name} AS {for_tvfsql(text)};\n" for name, text in views.items())


def test_queries(spark: SparkSession, duck: DuckDBPyConnection, files: Path) -> None:
    batch = session(spark, "batch", files)
    some = 0
    for seed in range(SEED * 10_000, SEED * 10_000 + QUERIES):
        views, query = composed_query(seed)
        (wanted,) = expected(duck, views, query)
        if views:
            batch.execute(create(views))
        found = bag(map(tuple, batch.sql(for_tvfsql(query)).collect()))
        assert found == wanted, f"seed {seed}\n{create(views)}{for_tvfsql(query)}"
        some += bool(wanted)
    assert some > QUERIES / 3


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_statement_sets(mode: str, spark: SparkSession, duck: DuckDBPyConnection, files: Path, tmp_path: Path) -> None:
    """Each INSERT of a set has the rows that its query has alone."""
    for seed in range(SEED * 10_000, SEED * 10_000 + SETS):
        views, queries = composed_set(seed, streaming=mode == "streaming")
        made = session(spark, mode, files)
        tables = [create_table(f"o{at}", query, tmp_path / f"{mode}{seed}") for at, query in enumerate(queries)]
        inserts = "".join(f"INSERT INTO o{at} {for_tvfsql(query.text)};\n" for at, query in enumerate(queries))
        script = f"{create(views)}{''.join(tables)}EXECUTE STATEMENT SET BEGIN {inserts}END;"
        made.execute(script)
        wanted = expected(duck, views, *(query.text for query in queries))
        for at, query in enumerate(queries):
            found = stored(tmp_path / f"{mode}{seed}" / f"o{at}", query)
            assert found == wanted[at], f"seed {seed}, o{at}\n{script}"


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_windows_over_changelogs(
    mode: str, spark: SparkSession, duck: DuckDBPyConnection, files: Path, tmp_path: Path
) -> None:
    """The changes leave the rows of the plain tables, so windows over them have the same rows, and so have queries over
    these windows."""
    for seed in range(SEED * 10_000, SEED * 10_000 + CHANGELOGS):
        composer = Composer(random.Random(seed), streaming=mode == "streaming")
        composer.leaf = composer.view(composer.grouped(composer.window(composer.rows())))
        query = composer.query(1) if composer.chance(0.5) else composer.leaf
        folder = tmp_path / f"{mode}{seed}"
        made = session(spark, mode, files, changelog=True)
        script = f"{create(composer.views)}{create_table('o', query, folder)}INSERT INTO o {for_tvfsql(query.text)};"
        made.execute(script)
        (wanted,) = expected(duck, composer.views, query.text)
        assert stored(folder / "o", query) == wanted, f"seed {seed}\n{script}"


def create_table(name: str, query: Query, folder: Path) -> str:
    columns = ", ".join(f"{column} {TYPES[kind]}" for column, kind in query.columns)
    options = f"'connector' = 'filesystem', 'path' = '{folder}/{name}', 'format' = 'json'"
    return f"CREATE TABLE {name} ({columns}) WITH ({options});\n"


def stored(folder: Path, query: Query) -> list[str]:
    """The rows in files of JSON."""

    def value(row: dict[str, Any], name: str, kind: str) -> Any:
        read = row.get(name)
        return datetime.fromisoformat(read) if read is not None and kind == "TIMESTAMP" else read

    rows = (json.loads(line) for file in sorted(folder.glob("*.json")) for line in file.read_text().splitlines())
    return bag([value(row, name, kind) for name, kind in query.columns] for row in rows)
