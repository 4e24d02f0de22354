"""Names of tables: those of statements first, then those of Spark's catalogs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from tvfsql import Session, compile
from tvfsql.api.definitions import Message
from tvfsql.api.listings import Listing
from tvfsql.api.own_spark import OwnSpark
from tvfsql.api.script import Script, Text
from tvfsql.api.tables.catalogs import SparkTables, table_of
from tvfsql.catalog import Catalog, Table
from tvfsql.errors import BindError, Span, SqlSyntaxError, UnsupportedError
from tvfsql.runtime.host.spark_catalog import Described
from tvfsql.shell.completion import candidates

ORDERS = (("item", "string"), ("price", "int"), ("ts", "timestamp_ntz"))


@dataclass
class Known(SparkTables):
    """Catalogs that need no Spark. `asked` has the names that were looked up."""

    has: Mapping[str, Described] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def _described(self, name: str) -> Described | None:
        self.asked.append(name)
        return self.has.get(name)

    def tables(self, database: str = "") -> tuple[str, ...]:
        return tuple(name.rpartition(".")[2] for name in self.has if name.rpartition(".")[0] == database)

    def databases(self, catalog: str = "") -> tuple[str, ...]:
        return {"": ("shop",), "lake": ("raw",)}.get(catalog, ())

    def catalogs(self) -> tuple[str, ...]:
        return ("lake", "spark_catalog")


@pytest.fixture
def script() -> Script:
    has = {
        "here": Described((("a", "int"),), "MANAGED", "parquet"),
        "shop.orders": Described(ORDERS, "MANAGED", "parquet"),
        "shop.recent": Described(ORDERS, "VIEW"),
        "lake.raw.orders": Described((("b", "int"),), "EXTERNAL", "iceberg"),
    }
    return Script(Catalog(outside=Known(lambda: None, has=has)))


def run(script: Script, sql: str) -> object:
    """The outcome of the last statement."""
    return list(script.outcomes(sql))[-1]


def columns(script: Script, sql: str) -> tuple[str, ...]:
    outcome: Any = run(script, sql)
    names: tuple[str, ...] = outcome.columns
    return names


def names(script: Script, sql: str) -> list[str | None]:
    outcome = run(script, sql)
    assert isinstance(outcome, Listing)
    return [row[0] for row in outcome.rows]


def test_names_of_one_two_and_three_parts_are_those_of_spark(script: Script) -> None:
    assert columns(script, "SELECT * FROM here") == ("a",)
    assert columns(script, "SELECT * FROM shop.orders") == ("item", "price", "ts")
    assert columns(script, "SELECT * FROM `lake`.raw.orders") == ("b",)
    assert columns(script, "USE shop; SELECT * FROM orders") == ("item", "price", "ts")
    assert columns(script, "USE lake.raw; SELECT * FROM orders") == ("b",)
    assert run(script, "USE default_catalog.default_database") == Message("using default_catalog.default_database")


def test_databases_change_when_their_statement_is_executed() -> None:
    script = Script()
    with pytest.raises(SqlSyntaxError):
        run(script, "CREATE DATABASE shop; SELEC 1")
    run(script, "CREATE DATABASE shop; CREATE VIEW one AS SELECT 1 AS a")
    with pytest.raises(BindError, match="nope"):
        run(script, "SELECT nope FROM one; CREATE DATABASE other; USE shop")
    assert names(script, "SHOW CURRENT DATABASE") == ["default_database"]
    assert names(script, "SHOW DATABASES") == ["default_database", "shop"]
    assert columns(script, "SELECT * FROM one") == ("a",)
    assert names(script, "USE shop; CREATE VIEW two AS SELECT 2 AS b; SHOW VIEWS") == ["two"]


def test_tables_of_statements_hide_those_of_spark(script: Script) -> None:
    run(script, "CREATE TABLE IF NOT EXISTS here (own STRING)")
    assert columns(script, "SELECT * FROM here") == ("own",)
    run(script, "CREATE DATABASE shop; CREATE TABLE shop.orders (own STRING)")
    assert columns(script, "SELECT * FROM shop.orders") == ("own",)
    assert columns(script, "SELECT * FROM shop.recent") == ("item", "price", "ts")


def test_the_program_is_what_a_person_writes(script: Script) -> None:
    read = "SELECT item FROM shop.orders WHERE price > 1"
    code = str(run(script, read))
    assert 'spark.table("shop.orders").select("item", "price")' in code
    streamed = str(run(script, f"SET 'execution.runtime-mode' = 'streaming'; {read}"))
    assert ".readStream" in streamed and '.table("shop.orders")' in streamed
    assert '.option("maxFileAge", "1000000d")' in streamed
    whole = compile("SELECT * FROM shop.orders", script.catalog).code
    assert 'return spark.table("shop.orders")\n' in whole
    insert = compile("INSERT INTO shop.orders (item) SELECT item FROM shop.recent", script.catalog).code
    assert 'query(spark).select(*spark.table("shop.orders").columns).write.insertInto("shop.orders")' in insert


def test_spark_is_asked_once_per_statement_and_again_by_the_next(script: Script) -> None:
    outside = script.catalog.outside
    assert isinstance(outside, Known)
    run(script, "SELECT a.item FROM shop.orders a JOIN shop.orders b ON a.item = b.item")
    assert outside.asked == ["shop.orders"]
    outside.has = {"shop.orders": Described((("now", "int"),), "MANAGED", "parquet")}
    assert columns(script, "SELECT * FROM shop.orders") == ("now",)


def test_a_watermark_is_declared_by_alter_table_or_like(script: Script) -> None:
    mark = "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
    window = "SELECT window_end FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_end"
    stream = "SET 'execution.runtime-mode' = 'streaming';"
    with pytest.raises(UnsupportedError, match=r"has no watermark for ts") as error:
        run(script, f"{stream} {window.format('shop.orders')}")
    assert error.value.hint == f"ALTER TABLE shop.orders ADD {mark}"
    run(script, f"CREATE TABLE mine ({mark}) LIKE shop.orders; ALTER TABLE shop.orders ADD {mark}")
    for table in ("mine", "shop.orders"):
        code = str(run(script, window.format(table)))
        assert "watermark=\"ts - INTERVAL '5' SECOND\"" in code
        read = 'spark.readStream.option("maxFileAge", "1000000d").table("shop.orders").select("ts")'
        assert read in "".join(line.strip() for line in code.splitlines())
    run(script, "DROP TABLE shop.orders")  # only the declaration
    assert columns(script, "SELECT * FROM shop.orders") == ("item", "price", "ts")


def test_show_and_describe_see_sparks_tables(script: Script) -> None:
    run(script, "CREATE TABLE own (a INT)")
    assert names(script, "SHOW TABLES") == ["here", "own"]
    assert names(script, "SHOW DATABASES") == ["default_database", "shop"]
    assert names(script, "SHOW CATALOGS") == ["default_catalog", "lake", "spark_catalog"]
    assert names(script, "USE shop; SHOW TABLES") == ["orders", "recent"]
    assert names(script, "USE lake.raw; SHOW TABLES") == ["orders"]
    assert names(script, "SHOW DATABASES") == ["raw"]
    assert names(script, "DESCRIBE default_catalog.shop.orders") == ["item", "price", "ts"]


def test_a_shown_table_can_be_declared_where_there_is_no_spark(script: Script) -> None:
    text = run(script, "SHOW CREATE TABLE shop.orders")
    assert isinstance(text, Text)
    query = "SELECT item, ts FROM shop.orders"
    alone = compile(f"{text.text}; {query}")
    assert alone.columns == ("item", "ts")
    assert 'spark.table("shop.orders")' in alone.code
    with pytest.raises(BindError) as error:
        compile(query)
    assert (
        error.value.hint
        == "CREATE TABLE orders (...) WITH ('connector' = 'spark-catalog', 'table-name' = 'shop.orders')"
    )


@pytest.mark.parametrize(
    ("sql", "message", "hint"),
    [
        ("SELECT * FROM shop.ordres", "there is no table shop.ordres", "did you mean shop.orders?"),
        ("USE shpo", "there is no database shpo", "did you mean shop?"),
        ("USE lake.nothing", "there is no database lake.nothing", "CREATE DATABASE lake.nothing"),
        ("DROP TABLE shop.orders", "is a table of Spark", 'spark.sql("DROP TABLE shop.orders")'),
        ("ALTER TABLE here RENAME TO there", "is a table of Spark", "CREATE TABLE there LIKE here"),
        ("INSERT INTO shop.recent SELECT * FROM shop.orders", "is a view of Spark", None),
        (
            "CREATE TABLE o (sum INT) WITH ('connector' = 'spark-catalog', 'table-name' = 'shop.orders')",
            "shop.orders of Spark has no column sum",
            "columns: item, price, ts",
        ),
    ],
)
def test_what_does_not_work_is_refused_by_name(script: Script, sql: str, message: str, hint: str | None) -> None:
    with pytest.raises(BindError, match=message) as error:
        run(script, sql)
    assert (error.value.hint or "").startswith(hint or "")
    assert columns(script, "SELECT * FROM here") == ("a",)  # a USE that failed has no effect


def test_completion_offers_sparks_tables_once_it_runs(script: Script) -> None:
    session = Session(catalog=script.catalog)
    session.catalog.outside = Known(lambda: None, has={"shop.orders": Described((), "MANAGED")})
    assert [each.text for each in candidates("SELECT * FROM shop.", "", session)] == []
    session.own.spark = object()
    assert [each.text for each in candidates("SELECT * FROM shop.", "", session)] == ["orders"]


def test_streams_do_not_read_views_of_spark(script: Script) -> None:
    with pytest.raises(UnsupportedError, match=r"shop\.recent is a view of Spark"):
        run(script, "SET 'execution.runtime-mode' = 'streaming'; SELECT * FROM shop.recent")


def test_declared_columns_are_cast_if_spark_has_other_types(script: Script) -> None:
    create = (
        "CREATE TABLE o (price BIGINT, item STRING) WITH ('connector' = 'spark-catalog', 'table-name' = 'shop.orders')"
    )
    code = str(run(script, f"{create}; SELECT price FROM o"))
    assert 'spark.table("shop.orders").select(F.col("price").cast("bigint"))' in code


def test_a_column_that_has_no_name_here_is_refused() -> None:
    with pytest.raises(BindError, match=r"the name \$watermark is reserved"):
        table_of("t", Described((("$watermark", "int"),), "MANAGED", "parquet"))


def test_only_a_spark_that_may_know_tables_is_started_to_look_one_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)  # so no Spark runs here
    started: list[OwnSpark] = []
    monkeypatch.setattr(OwnSpark, "get", lambda own: started.append(own))
    session = Session()
    with pytest.raises(BindError, match="there is no table nowhere"):
        session.sql("SELECT * FROM nowhere")
    assert started == []
    session.execute("SET 'spark.sql.catalog.lake' = 'org.example.Catalog'")
    session.own.with_catalogs()
    assert started == [session.own]


def test_a_checked_table_without_spark_is_as_declared() -> None:
    table = table_of("t", Described(ORDERS, "MANAGED", "parquet"))
    assert SparkTables(lambda: None).checked(table, Span(0, 1)) is table
    assert SparkTables(lambda: None).tables() == ()
    assert isinstance(table, Table)
