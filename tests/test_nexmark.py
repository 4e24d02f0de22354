"""The benchmark over Nexmark, without Spark: its queries, its files, and how rows are compared."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import duckdb
import pytest

import tvfsql
from tests.bench.nexmark import answers
from tests.bench.nexmark.engines import NOTHING, bid_columns, result_columns, statements
from tests.bench.nexmark.queries import CEP, NOT_OURS, QUERIES, Query
from tests.bench.nexmark.tables import FILES, LAST_ROW, NexmarkFiles, columns

# joins without time bounds, of rows that no option says how long to keep
REJECTED = {
    3: "SELECT name, city, state, a.id FROM auction AS a JOIN person AS p ON seller = p.id WHERE category = 10",
    9: "SELECT * FROM (SELECT a.id, price, ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY price DESC, bid.`dateTime`)"
    " AS n FROM auction AS a JOIN bid ON a.id = auction) WHERE n = 1",
    6: "SELECT seller, AVG(price) OVER (PARTITION BY seller ORDER BY closed ROWS BETWEEN 10 PRECEDING AND CURRENT ROW)"
    " FROM (SELECT seller, price, bid.`dateTime` AS closed, ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY price) AS n"
    " FROM auction AS a JOIN bid ON a.id = auction) WHERE n = 1",
    20: "SELECT auction, bidder, price, category FROM bid JOIN auction AS a ON auction = a.id WHERE category = 10",
}


def test_every_query_of_nexmark_is_measured_or_has_a_reason() -> None:
    assert {query.number for query in QUERIES} | NOT_OURS.keys() == {*range(23)}
    assert not {query.number for query in QUERIES} & NOT_OURS.keys()


@pytest.mark.parametrize("query", [*QUERIES, *CEP], ids=lambda query: query.name)
def test_queries_compile_on_streams(query: Query) -> None:
    script = statements(query, dict.fromkeys(query.tables, "/tables"), "", NOTHING)
    assert tvfsql.compile(";".join(script), mode="streaming", options=query.settings).code


TABLES = "; ".join(
    f"CREATE TABLE {table} ({columns(table)}, WATERMARK FOR `dateTime` AS `dateTime`)"
    " WITH ('connector' = 'filesystem', 'path' = '/tables', 'format' = 'csv')"
    for table in ("person", "auction", "bid")
)


@pytest.mark.parametrize("number", REJECTED)
def test_joins_without_bounds_are_rejected_on_streams_without_a_retention(number: int) -> None:
    tvfsql.compile(f"{TABLES}; {REJECTED[number]}", mode="batch")
    with pytest.raises(tvfsql.TvfSqlError):
        tvfsql.compile(f"{TABLES}; {REJECTED[number]}", mode="streaming")


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_queries_with_a_key_are_those_that_emit_changes(query: Query) -> None:
    script = "; ".join([*statements(query, dict.fromkeys(query.tables, "/tables"), "", NOTHING)[:-2], query.sql])
    columns = tvfsql.compile(script, mode="streaming", options=query.settings).physical.columns
    assert (columns[0] == "op") == bool(query.key)
    names = [name for name, _ in result_columns(query)]
    assert {*query.key, *query.decides} <= {*names}
    assert not query.decides or {*names} & dict(bid_columns()).keys() == dict(bid_columns()).keys()


def test_all_layouts_have_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    files = NexmarkFiles(1_000)
    assert [files.count(table) for table in ("person", "auction", "bid")] == [20, 60, 920]
    for table in ("person", "auction", "bid"):
        parts = sorted(Path(files.rows(table)).iterdir())
        assert len(parts) == FILES
        assert "".join(part.read_text() for part in parts) == Path(files.whole(table)).read_text()
        assert len(Path(files.whole(table)).read_text().splitlines()) == files.count(table)
        (last,) = (Path(files.rows(table)).parent / "last").iterdir()
        assert f"{LAST_ROW}.000" in last.read_text()
        assert last.stat().st_mtime > max(part.stat().st_mtime for part in parts)


def test_rows_are_compared_in_any_order_and_as_often_as_they_occur(tmp_path: Path) -> None:
    query = QUERIES[0]

    def source(name: str, *rows: str) -> str:
        (tmp_path / name).write_text("".join(f"{row}\n" for row in rows))
        names = dict(result_columns(query))
        return f"read_csv('{tmp_path}/{name}', header = false, columns = {names})"

    def read(source: str) -> answers.Rows:
        return answers.read(source, result_columns(query), "price")

    one, two = "1,2,300,2026-01-01 00:00:00.500,x", "1,2,300,2026-01-01 00:00:00.501,x"
    wanted = source("wanted", one, two)
    assert read(wanted) == read(source("other_order", two, one))
    assert read(wanted).count == 2
    assert read(wanted).total == 600
    for name, rows in {"less": [one], "more": [one, two, two], "others": [one, one]}.items():
        assert read(wanted) != read(source(name, *rows)), name
    found = answers.only_in(wanted, source("twice", one, one), result_columns(query))
    assert [str(row[3]) for row in found] == ["2026-01-01 00:00:00.501000"]
    assert answers.count_only_in(wanted, source("once", one), result_columns(query)) == 1
    assert read(f"read_csv('{tmp_path}/none-*')") == answers.Rows(0, 0, 0)


COUNTS = [("k", "BIGINT"), ("n", "BIGINT")]


def test_changes_are_folded_in_any_order(tmp_path: Path) -> None:
    def rows(*changes: tuple[str, int, int]) -> list[tuple[object, ...]]:
        lines = []
        for op, k, n in changes:
            row = {"k": k, "n": n}
            before, after = (row, None) if op == "d" else (None, row)
            lines.append(json.dumps({"before": before, "after": after, "op": op}))
        (tmp_path / "part-0").write_text("\n".join(lines))
        source = answers.folded(f"{tmp_path}/part-*", COUNTS)
        with duckdb.connect() as duck:
            return duck.execute(f"SELECT k, n FROM {source} ORDER BY k").fetchall()

    assert rows(("c", 1, 1), ("c", 2, 1), ("d", 1, 1), ("c", 1, 2), ("d", 2, 1)) == [(1, 2)]
    assert rows(("d", 1, 1), ("c", 1, 2), ("c", 1, 1)) == [(1, 2)]
    assert rows(("c", 1, 1), ("c", 1, 1)) == [(1, 1), (1, 1)]
    with pytest.raises(duckdb.Error, match="deleted more often than inserted"):
        rows(("c", 1, 1), ("d", 1, 2))


def test_the_last_row_of_a_key_stays(tmp_path: Path) -> None:
    for number, rows in enumerate(["(1, 1), (2, 1)", "(1, 3)", "(1, 2)"]):
        (tmp_path / str(number)).mkdir()
        with duckdb.connect() as duck:
            made = f"SELECT *, {number} AS number FROM (VALUES {rows}) AS t(k, n)"
            duck.execute(f"COPY ({made}) TO '{tmp_path}/{number}/part.parquet'")
    with duckdb.connect() as duck:
        source = answers.last(f"{tmp_path}/*/*.parquet", ["k"], "number")
        assert duck.execute(f"SELECT k, n FROM {source} ORDER BY k").fetchall() == [(1, 2), (2, 1)]
