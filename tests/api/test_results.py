"""Results in Python and in a notebook: rows as lists, pandas, Arrow and polars, and what a REPL prints."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import tvfsql
from tvfsql.api.display import html_table
from tvfsql.errors import BindError, DataError, UnsupportedError, did_you_mean
from tvfsql.runtime.frames.arrow_tables import arrow_of
from tvfsql.syntax import parser as syntax
from tvfsql.syntax.databases import Databases
from tvfsql.syntax.statements import Statement

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BID = """CREATE TABLE bid (ts TIMESTAMP(3), price DECIMAL(10, 2), item STRING, WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'bid.csv', 'format' = 'csv');"""


def test_a_query_is_one_line_and_folds_its_stages() -> None:
    query = tvfsql.compile(f"{BID} SELECT item, SUM(price) AS total FROM bid GROUP BY item")
    assert repr(query) == "<tvfsql batch query: item STRING, total DECIMAL(38, 2)>"
    page = query._repr_html_()
    assert "<summary>Physical plan</summary>" in page and "def query(spark" in page
    insert = tvfsql.compile(f"{BID} CREATE TABLE p (n BOOLEAN) WITH ('connector' = 'print'); INSERT INTO p SELECT TRUE")
    assert repr(insert).startswith("<tvfsql batch INSERT INTO p: ")


def test_many_columns_are_counted() -> None:
    query = tvfsql.compile("SELECT " + ", ".join(f"{i} AS c{i}" for i in range(40)))
    assert repr(query).endswith("c7 INT, ... (40 columns)>")


def test_what_a_repl_prints_runs_nothing() -> None:
    session = tvfsql.Session()
    assert repr(session) == "<tvfsql session: mode batch; tables: none; Spark not started>"
    session.execute(BID)
    assert repr(session) == "<tvfsql session: mode batch; tables: bid; Spark not started>"
    assert "ts TIMESTAMP(3), price DECIMAL(10, 2), item STRING" in session._repr_html_()
    result = session.table("BID")
    assert repr(result) == "<tvfsql result of batch query: ts TIMESTAMP(3), price DECIMAL(10, 2), item STRING>"
    assert bool(result)
    assert repr(session.sql("SHOW TABLES")) == "<tvfsql result: table name; 1 row>"
    assert repr(session.sql("EXPLAIN SELECT 1")) == "<tvfsql result: == Optimized Physical Plan == ...>"
    assert "== What the operators do" in session.sql("EXPLAIN SELECT 1")._repr_html_()
    assert "== PySpark ==" in session.sql("EXPLAIN ALL SELECT 1")._repr_html_()
    assert repr(session).endswith("Spark not started>")
    with pytest.raises(BindError, match="there is no table nothing"):
        session.table("nothing")


def test_paths_of_a_named_script_start_at_its_folder() -> None:
    session = tvfsql.Session()
    session.execute(BID, file="scripts/bid.sql")
    session.execute(BID.replace("TABLE bid", "TABLE here"))
    assert "'scripts/bid.csv'" in repr(session.sql("SELECT * FROM bid").query.code).replace('"', "'")
    assert "scripts" not in session.sql("SELECT * FROM here").query.code


def test_a_table_keeps_the_folder_of_its_path() -> None:
    session = tvfsql.Session()
    session.execute(BID, file="scripts/bid.sql")
    comma = "'csv.field-delimiter' = ';'"
    session.execute(f"CREATE TABLE alike LIKE bid; ALTER TABLE bid SET ({comma})", file="other/alter.sql")
    for table in ("bid", "alike", f"bid /*+ OPTIONS({comma}) */"):
        assert '.load("scripts/bid.csv")' in session.sql(f"SELECT item FROM {table}").query.code, table
    assert "'path' = 'bid.csv'" in session.sql("SHOW CREATE TABLE alike").text()
    session.execute("ALTER TABLE bid SET ('path' = 'new.csv')", file="other/alter.sql")
    assert '.load("other/new.csv")' in session.sql("SELECT item FROM bid").query.code


def test_several_results_are_refused_before_anything_runs() -> None:
    session = tvfsql.Session()
    inserts = "INSERT INTO a SELECT 1; INSERT INTO b SELECT 2;"
    for sql in (inserts, f"EXECUTE STATEMENT SET BEGIN {inserts} END", f"{BID} SELECT 1"):
        with pytest.raises(BindError, match="one statement with one result, but this has 2"):
            session.sql(sql)
    assert not session.catalog.entries


def test_a_statement_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def parse(sql: str, databases: Databases) -> tuple[Statement, ...]:
        parsed.append(sql)
        return syntax.parse(sql, databases)

    monkeypatch.setattr("tvfsql.api.script.parse", parse)
    session = tvfsql.Session()
    session.sql("SELECT 1 AS n")
    session.execute("DECLARE n INT DEFAULT 2; SELECT :n AS n")
    assert parsed == ["SELECT 1 AS n", "DECLARE n INT DEFAULT 2; SELECT 2 AS n"]


@pytest.mark.parametrize("more", ["", "SELECT 1; SELECT 2"])
def test_compile_says_what_runs_a_script_without_one_query(more: str) -> None:
    with pytest.raises(BindError) as caught:
        tvfsql.compile(f"{BID} {more}")
    assert caught.value.hint == "tvfsql.Session().execute(sql) runs such scripts"


def test_reset_restores_what_the_session_was_opened_with() -> None:
    zone, given = "table.local-time-zone", {"table.local-time-zone": "Europe/Berlin", "spark.app.name": "bids"}
    session = tvfsql.Session(options=given, start_mode="FROM_NOW")
    opened = session.options
    session.execute(f"SET '{zone}' = 'UTC'; SET 'pipeline.name' = 'a'; RESET '{zone}'")
    assert dict(session.options.values) == {**opened.values, "pipeline.name": "a"}
    session.execute(f"SET '{zone}' = 'UTC'; RESET")
    assert session.options == opened and opened.spark == {"spark.app.name": "bids"}


def test_listings_are_rows_too() -> None:
    session = tvfsql.Session()
    session.execute(BID)
    result = session.sql("DESCRIBE bid")
    assert len(result) == 3 and [row[0] for row in result] == ["ts", "price", "item"]
    assert result.to_arrow().column("watermark").to_pylist() == ["ts", None, None]
    assert list(result.to_pandas().columns) == ["name", "type", "computed as", "watermark"]
    with pytest.raises(UnsupportedError, match="is not a query"):
        len(session.sql("SET 'table.local-time-zone' = 'UTC'"))


def test_a_table_in_a_notebook_is_capped_and_escaped() -> None:
    columns = [("<b>", "string"), ("n", "bigint"), *((f"c{i}", "int") for i in range(40))]
    page = html_table(columns, ([f"<{i}>", None, *["1"] * 40] for i in range(90)), limit=20)
    assert "&lt;b&gt;" in page and "&lt;19&gt;" in page and "&lt;20&gt;" not in page
    assert "<b>" not in page and page.count("<th") - page.count("<thead") == 30
    assert "the first 20 rows; 12 more columns" in page
    assert page.count("NULL") == 20
    assert len(html_table([("text", "string")], [["x" * 100_000]])) < 2_000


@pytest.mark.parametrize("data", [3, [1, 2], {"a": [1]}])
def test_what_is_no_table_is_refused(data: object) -> None:
    with pytest.raises(DataError, match=f"{type(data).__name__} is not a table"):
        tvfsql.Session().register("t", data)


@pytest.mark.parametrize("name", ["", " ", "shop.", "a.b.c.d"])
def test_what_is_no_name_of_a_table_is_refused(name: str) -> None:
    with pytest.raises(BindError, match=r"is not a valid table name|has more than three parts"):
        tvfsql.Session().register(name, pa.table({"n": [1]}))


def test_a_column_of_several_types_is_refused() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(DataError, match=r"this DataFrame cannot be read: .*mixed"):
        arrow_of(pandas.DataFrame({"mixed": [1, "two"]}))


@pytest.mark.spark
def test_rows_go_in_and_out(spark: SparkSession) -> None:
    polars: Any = pytest.importorskip("polars")
    clock = dt.datetime(2020, 4, 15, 8, 5)
    instant = clock.replace(tzinfo=dt.UTC)
    rows = pa.table({"ts": [clock, None], "at": [instant, instant], "price": [Decimal("4.00"), Decimal("2.00")]})
    session = tvfsql.Session(spark)
    for name, data in {
        "arrow": rows,
        "pandas": rows.to_pandas(),
        "polars": polars.from_arrow(rows),
        "sparks": spark.createDataFrame([(1, "one")], "n INT, word STRING"),
    }.items():
        session.register(name, data)
    for name in ("arrow", "pandas", "polars"):
        assert [row[1] for row in session.sql(f"DESCRIBE {name}")][:2] == ["TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"]
        result = session.table(name)
        assert [row.ts for row in result] == [clock, None] and len(result) == 2 and len(list(result)) == 2
        assert result.to_arrow().column("at").to_pylist() == [instant, instant]
    assert session.table("pandas").to_pandas()["price"].sum() == Decimal(6)
    assert session.table("sparks").to_polars().rows() == [(1, "one")]
    page = session.sql("SELECT ts, price FROM arrow")._repr_html_()
    assert "2020-04-15 08:05:00.000" in page and "TIMESTAMP(3)" in page and "2 rows" in page
    assert "error: " in session.sql("SELECT CAST(CAST(ts AS STRING) AS INT) FROM arrow")._repr_html_()
    session.close()
    assert spark.sql("SELECT 1").count() == 1, "a session closes only the Spark that it has started"


@pytest.mark.spark
def test_a_stream_gives_arrow_too(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "bid.csv").write_text("2020-04-15 08:05:00,4.00,C\n2020-04-15 08:07:00,2.00,A\n")
    with tvfsql.Session(spark, mode="streaming") as session:
        session.execute(BID.replace("bid.csv", str(tmp_path / "bid.csv")))
        assert sorted(session.sql("SELECT item FROM bid").to_arrow().column("item").to_pylist()) == ["A", "C"]


def test_a_hint_names_a_table_once() -> None:
    assert did_you_mean("nothing", ["bid", "item", "bid"]) == "known: bid, item"
