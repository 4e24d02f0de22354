"""What Tab offers: the right names at the right place, without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from tvfsql.api import Session
from tvfsql.catalog import Table
from tvfsql.catalog.connectors import KNOWN_CONNECTORS
from tvfsql.catalog.table import TableColumn
from tvfsql.errors import DataError, Span
from tvfsql.plan.values.types import INT
from tvfsql.shell.completion import TABLE_OPTIONS, candidates
from tvfsql.shell.splitting import chunks, is_command, is_complete, mentions

TABLES = """CREATE TABLE bid (bidtime TIMESTAMP(3), price DECIMAL(10, 2), item STRING, WATERMARK FOR bidtime AS bidtime)
WITH ('connector' = 'filesystem', 'path' = 'bid.csv', 'format' = 'csv');
CREATE TABLE auction (item STRING, seller STRING) WITH ('connector' = 'print');
CREATE VIEW cheap AS SELECT item AS thing FROM bid"""


@pytest.fixture(scope="module")
def session() -> Session:
    session = Session()
    session.execute(TABLES)
    return session


def offered(text: str, session: Session, after: str = "") -> list[str]:
    return [each.text for each in candidates(text, after, session)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELE", ["SELECT"]),
        ("SELECT 1; DESC", ["DESC", "DESCRIBE"]),
        ("SELECT * FROM ", ["auction", "bid", "cheap"]),
        ("SELECT * FROM bi", ["bid"]),
        ("SELECT * FROM ch", ["cheap"]),
        ("SELECT bid.p", ["price"]),
        ("SELECT a.s", []),
        ("SELECT * FROM TABLE(TUM", ["TUMBLE("]),
        ("SELECT * FROM TABLE(HOP(TABLE bid, DESCRIPTOR(", ["bidtime"]),
        ("SHOW T", ["TABLES"]),
        ("SET 'table.local", ["table.local-time-zone"]),
        ("SET 'execution.runtime-mode' = '", ["batch", "streaming", "automatic"]),
        ("SET 'tvfsql.source.lossy-idle-advance' = 't", ["true"]),
        ("SET 'table.local-time-zone' = 'Europe/Berl", ["Europe/Berlin"]),
        ("RESET pipeline.n", []),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'fil", ["filesystem"]),
        ("CREATE TABLE t (a INT) WITH ('conn", ["connector"]),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 't", ["topic", "topic-pattern"]),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'bids', 't", ["topic-pattern"]),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'csv.head", ["csv.header"]),
        ("CREATE VIEW v AS WITH w AS (SELECT 1) SELECT * FROM w WHERE a = 'c", []),
        (
            "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'format' = '",
            ["csv", "json", "parquet", "orc", "avro"],
        ),
        ("SELECT 'lo", []),
        ("\\tim", ["\\timing"]),
        (".ta", [".tables"]),
        ("\\format n", ["ndjson"]),
        ("\\x a", ["auto"]),
        ("\\d b", ["bid"]),
        ("\\set execution.runtime-mode s", ["streaming"]),
        ("\\explain phy", ["physical"]),
    ],
)
def test_offers(text: str, expected: list[str], session: Session) -> None:
    assert offered(text, session) == expected


def test_table_options_are_in_the_page_of_connectors() -> None:
    page = (Path(__file__).parents[2] / "docs" / "sql" / "connectors.md").read_text(encoding="utf-8")
    assert set(TABLE_OPTIONS) <= set(KNOWN_CONNECTORS)
    told = {key for keys in TABLE_OPTIONS.values() for key in keys if not key.startswith("properties.")}
    assert [key for key in sorted(told) if key not in page] == []


def test_columns_are_those_of_the_tables_behind_the_cursor_too(session: Session) -> None:
    assert offered("SELECT pr", session, " FROM bid")[0] == "price"
    assert "price" not in offered("SELECT pr", session, " FROM auction; SELECT * FROM bid")
    assert offered("SELECT pr", session)[0] == "price", "no table is named yet"
    assert offered("SELECT b.it", session, " FROM bid AS b") == ["item"]
    assert offered("SELECT window_s", session, " FROM TABLE(TUMBLE(TABLE bid, ...") == ["window_start"]


def test_tables_of_databases() -> None:
    session = Session()
    session.execute("CREATE DATABASE shop; USE shop; CREATE TABLE sale (n INT) WITH ('connector' = 'delta')")
    assert offered("SELECT * FROM sh", session) == ["shop.sale"]
    assert offered("SELECT * FROM shop.", session) == ["sale"]
    assert session.table("sale").query.columns == session.table("shop.sale").query.columns == ("n",)


SALE = Table("lake.raw.sale", (TableColumn("price", INT),))


class Lake:
    """Catalogs with one table, `lake.raw.sale`; the current catalog is `lake`."""

    def table(self, name: str) -> Table | None:
        return SALE if name in ("raw.sale", "lake.raw.sale") else None

    def tables(self, database: str = "") -> tuple[str, ...]:
        if database == "broken":
            raise DataError("no answer")
        return ("sale",) if database in ("raw", "lake.raw") else ()

    def databases(self, catalog: str = "") -> tuple[str, ...]:
        return ("raw", "default") if catalog in ("", "lake") else ()

    def catalogs(self) -> tuple[str, ...]:
        return ("lake",)

    def checked(self, table: Table, span: Span) -> Table:
        return table

    def forget(self) -> None:
        pass


@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        ("SELECT * FROM r", "", ["raw"]),
        ("SELECT * FROM raw.", "", ["sale"]),
        ("SELECT * FROM la", "", ["lake"]),
        ("SELECT * FROM lake.", "", ["raw", "default"]),
        ("SELECT * FROM lake.raw.s", "", ["sale"]),
        ("SELECT pric", " FROM lake.raw.sale", ["price"]),
        ("SELECT pric", " FROM TABLE(TUMBLE(TABLE raw.sale, ", ["price"]),
        ("SELECT s.pri", " FROM raw.sale AS s", ["price"]),
        ("SELECT * FROM broken.", "", []),
    ],
)
def test_names_of_spark(text: str, after: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()
    session.catalog.outside = Lake()
    assert offered(text, session, after) == [], "Spark does not run, and completion does not start it"
    monkeypatch.setattr(session.own, "spark", object())
    assert offered(text, session, after) == expected


def test_functions_are_offered_with_their_arguments(session: Session) -> None:
    found = {each.text: each for each in candidates("SELECT date_f", "", session)}
    assert found["DATE_FORMAT("].shown.startswith("DATE_FORMAT(")
    assert found["DATE_FORMAT("].about == "STRING"


def test_files_are_offered(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.sql").touch()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "two.csv").touch()
    (tmp_path / ".hidden").touch()
    monkeypatch.chdir(tmp_path)
    assert offered("\\i ", session) == ["data/", "one.sql"]
    assert offered("\\i .", session) == [".hidden"]
    assert offered("CREATE TABLE t (a INT) WITH ('path' = 'data/t", session) == ["two.csv"]
    assert offered("\\i nothing/", session) == []


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("SELECT 1;", True),
        ("SELECT 1", False),
        ("SELECT ';", False),
        ("SELECT ';';", True),
        ("SELECT 1 -- ;", False),
        ("SELECT 1; -- done", True),
        ("SELECT 1 /* ;", False),
        ("SELECT `a;", False),
        ("SELECT CASE WHEN a THEN b END;", True),
        ("SELECT 1; SELECT 2;", True),
        ("SELECT 1; SELECT 2", False),
        ("BEGIN STATEMENT SET;", False),
        ("BEGIN STATEMENT SET; INSERT INTO t SELECT 1;", False),
        ("BEGIN STATEMENT SET; INSERT INTO t SELECT 1; END;", True),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT CASE a WHEN 1 THEN 2 END; END;", True),
        ('SELECT "a";', True),
    ],
)
def test_a_statement_is_complete(text: str, complete: bool) -> None:
    assert is_complete(text) == complete


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("\\dt", True),
        (".tables", True),
        ("help;", True),
        ("QUIT", True),
        (".5", False),
        ("SELECT 1", False),
        ("", False),
    ],
)
def test_commands_are_told_from_statements(text: str, command: bool) -> None:
    assert is_command(text) == command


def test_lines_are_cut_into_commands_and_statements() -> None:
    lines = "-- first\n\\dt\n\nSELECT\n  1;\nSELECT 2; SELECT 3;\nSELECT 4".splitlines()
    assert [*chunks(lines)] == [
        (1, "\\dt\n"),
        (3, "SELECT\n  1;\n"),
        (5, "SELECT 2; SELECT 3;\n"),
        (6, "SELECT 4\n"),
    ]


def test_the_last_query_is_a_word_of_its_own() -> None:
    assert mentions("SELECT * FROM _", "_") and mentions("SELECT * FROM `_`", "_")
    assert not mentions("SELECT a_b, '_' FROM t -- _", "_")
