"""The benchmark over Nexmark, without Spark: its queries, its files, and how rows are compared."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

import tvfsql
from tests.bench.nexmark import answers
from tests.bench.nexmark.engines import NOTHING, result_columns, statements
from tests.bench.nexmark.queries import CEP, NOT_OURS, QUERIES, Query
from tests.bench.nexmark.tables import FILES, LAST_ROW, NexmarkFiles, columns

REJECTED = {
    3: "SELECT name, city, state, a.id FROM auction AS a JOIN person AS p ON seller = p.id WHERE category = 10",
    4: "SELECT category, AVG(price) FROM (SELECT a.id, category, MAX(price) AS price FROM auction AS a JOIN bid"
    " ON a.id = auction AND bid.`dateTime` BETWEEN a.`dateTime` AND expires GROUP BY a.id, category) GROUP BY category",
    9: "SELECT * FROM (SELECT a.id, price, ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY price DESC, bid.`dateTime`)"
    " AS n FROM auction AS a JOIN bid ON a.id = auction) WHERE n = 1",
    6: "SELECT seller, AVG(price) OVER (PARTITION BY seller ORDER BY closed ROWS BETWEEN 10 PRECEDING AND CURRENT ROW)"
    " FROM (SELECT seller, price, bid.`dateTime` AS closed, ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY price) AS n"
    " FROM auction AS a JOIN bid ON a.id = auction) WHERE n = 1",
    20: "SELECT auction, bidder, price, category FROM bid JOIN auction AS a ON auction = a.id WHERE category = 10",
}

UPDATING = {
    15: "SELECT DATE_FORMAT(`dateTime`, 'yyyy-MM-dd') AS d, COUNT(*), COUNT(DISTINCT bidder) FROM bid"
    " GROUP BY DATE_FORMAT(`dateTime`, 'yyyy-MM-dd')",
    16: "SELECT channel, COUNT(*), COUNT(DISTINCT auction) FROM bid GROUP BY channel",
    17: "SELECT auction, COUNT(*), MIN(price), AVG(price) FROM bid GROUP BY auction",
    18: "SELECT auction, bidder, price, channel, url, `dateTime`, extra FROM (SELECT *, ROW_NUMBER() OVER"
    " (PARTITION BY bidder, auction ORDER BY `dateTime` DESC) AS rank_number FROM bid) WHERE rank_number <= 1",
    19: "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS rank_number FROM bid)"
    " WHERE rank_number <= 10",
}


def test_every_query_of_nexmark_is_measured_or_has_a_reason() -> None:
    assert {query.number for query in QUERIES} | NOT_OURS.keys() == {*range(23)}
    assert not {query.number for query in QUERIES} & NOT_OURS.keys()
    assert REJECTED.keys() <= NOT_OURS.keys()


@pytest.mark.parametrize("query", [*QUERIES, *CEP], ids=lambda query: query.name)
def test_queries_compile_on_streams(query: Query) -> None:
    script = statements(query, dict.fromkeys(query.tables, "/tables"), "", NOTHING)
    assert tvfsql.compile(";".join(script), mode="streaming").code


TABLES = "; ".join(
    f"CREATE TABLE {table} ({columns(table)}, WATERMARK FOR `dateTime` AS `dateTime`)"
    " WITH ('connector' = 'filesystem', 'path' = '/tables', 'format' = 'csv')"
    for table in ("person", "auction", "bid")
)


@pytest.mark.parametrize("number", REJECTED)
def test_queries_that_are_left_out_are_rejected_on_streams(number: int) -> None:
    tvfsql.compile(f"{TABLES}; {REJECTED[number]}", mode="batch")
    with pytest.raises(tvfsql.TvfSqlError):
        tvfsql.compile(f"{TABLES}; {REJECTED[number]}", mode="streaming")


@pytest.mark.parametrize("number", UPDATING)
def test_queries_without_windows_emit_changes(number: int) -> None:
    compiled = tvfsql.compile(f"{TABLES}; {UPDATING[number]}", mode="streaming")
    assert compiled.physical.columns[0] == "op"


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
    assert read(f"read_csv('{tmp_path}/none-*')") == answers.Rows(0, 0, 0)
