"""Rows in PostgreSQL: in batch, on streams, changes of early results, and after kills."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bids import some_batches, write_files
from tests.support.examples import SOAK
from tests.support.killing import commits, kill, start, wait_for
from tests.support.postgres_server import Database
from tests.support.totals import BIDS, KEYED, QUERY, TOTALS, expected
from tvfsql import Session, TvfSqlError
from tvfsql.runtime.databases.postgres import STORED, _is_new, write_postgres

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.skipif(sys.platform != "linux", reason="a PostgreSQL of a wheel")]
STORE = "WITH ('connector' = 'jdbc', 'url' = '{}', 'table-name' = '{}', 'username' = 'postgres');\n"
NOON = "TIMESTAMP '2000-01-01 12:00:00'"
QUERY_AT_NOON = QUERY.replace("window_start,", f"{NOON},", 1)  # all windows have one key
IN_POSTGRES = "(window_start TIMESTAMP(3), item TEXT, n BIGINT, total DECIMAL(20, 2), PRIMARY KEY (window_start, item))"


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    write_files(tmp_path / "in", some_batches(seed=3, disorder=30, batches=22 if SOAK else 4))
    return tmp_path / "in"


def test_batch_replaces_rows_of_a_key_and_adds_others(database: Database, spark: SparkSession, rows: Path) -> None:
    database.connection.execute(f"CREATE TABLE of_batch {IN_POSTGRES}")
    database.connection.execute("CREATE TABLE log (at TIMESTAMPTZ, numbers INT[], note TEXT)")
    session = Session(spark, mode="batch")
    session.execute(BIDS.format(rows))
    session.execute(f"CREATE TABLE of_batch ({TOTALS}, {KEYED}) " + STORE.format(database.url, "public.of_batch"))
    session.execute("INSERT INTO of_batch VALUES (TIMESTAMP '2020-04-15 08:00:00', 'A', 1, 0.5)")
    for _ in range(2):
        session.execute(f"INSERT INTO of_batch {QUERY.format('')}")
    assert database.rows("of_batch") == expected(spark, rows)
    with pytest.raises(TvfSqlError, match=r"two rows for table .* have the same primary key"):
        session.execute(
            "INSERT INTO of_batch SELECT ts, 'x', 1, price FROM bid UNION ALL SELECT ts, 'x', 2, 1 FROM bid"
        )

    with pytest.raises(TvfSqlError, match=r"two rows for table .* have the same primary key"):
        session.execute(f"INSERT INTO of_batch SELECT {NOON}, item, n, price FROM bid ON CONFLICT DO NOTHING")
    with pytest.raises(TvfSqlError, match=r"two rows for table .* have the same primary key"):
        session.execute(f"INSERT INTO of_batch {QUERY_AT_NOON} ON CONFLICT DO ERROR")
    session.execute(f"INSERT INTO of_batch {QUERY_AT_NOON} ORDER BY window_end ON CONFLICT DO NOTHING")
    of_windows = session.sql(f"{QUERY.format('')} ORDER BY window_start").collect()
    last, first = ({row.item: row.n for row in rows} for rows in (of_windows, of_windows[::-1]))
    at_noon = "SELECT item, n FROM of_batch WHERE window_start = '2000-01-01 12:00:00'"
    assert dict(database.connection.execute(at_noon).fetchall()) == first != last
    session.execute(f"INSERT INTO of_batch {QUERY_AT_NOON} ORDER BY window_end ON CONFLICT DO DEDUPLICATE")
    assert dict(database.connection.execute(at_noon).fetchall()) == last

    create = "CREATE TABLE log (at TIMESTAMP_LTZ(3), numbers ARRAY<INT>, note STRING) "
    session.execute("SET 'table.local-time-zone' = 'Asia/Tokyo';" + create + STORE.format(database.url, "log"))
    for _ in range(2):
        session.execute("INSERT INTO log SELECT TO_TIMESTAMP_LTZ(1000, 3), ARRAY[1, NULL], 'tab\t\\ and '''")
    found = database.connection.execute("SELECT extract(epoch FROM at)::int, numbers, note FROM log").fetchall()
    assert found == [(1, [1, None], "tab\t\\ and '")] * 2
    with pytest.raises(TvfSqlError, match="PostgreSQL has no table nothing"):
        session.execute("CREATE TABLE nothing (n INT) " + STORE.format(database.url, "nothing"))
        session.execute("INSERT INTO nothing VALUES (1)")


def test_streams_that_write_into_a_new_database_at_once_do_not_race(database: Database) -> None:
    import psycopg

    def is_new(stream: str) -> bool:
        with psycopg.connect(database.server.get_uri()) as connection:
            return _is_new(connection, stream, 0)

    streams = [f"stream {number}" for number in range(8)]
    with ThreadPoolExecutor(len(streams)) as pool:
        for _ in range(10):
            database.connection.execute(f"DROP TABLE IF EXISTS {STORED}")
            assert [*pool.map(is_new, streams)] == [True] * len(streams)


def test_the_last_or_the_first_window_of_a_key_stays(database: Database, spark: SparkSession, rows: Path) -> None:
    """On a stream rows come in an order: the windows of an item as they end."""
    session = Session(spark, mode="streaming")
    session.execute(BIDS.format(rows))
    windows = expected(spark, rows)
    for word, pick in (("DEDUPLICATE", max), ("NOTHING", min)):
        database.connection.execute(f"CREATE TABLE {word} (item TEXT PRIMARY KEY, n BIGINT, window_start TIMESTAMP)")
        table = (
            f"CREATE TABLE {word} (item STRING, n BIGINT, window_start TIMESTAMP(3), PRIMARY KEY (item) NOT ENFORCED) "
        )
        session.execute(table + STORE.format(database.url, word.lower()))
        session.execute(
            f"INSERT INTO {word} (window_start, item, n) SELECT window_start, item, n FROM ({QUERY.format('')}) "
            f"ON CONFLICT DO {word}"
        )
        picked = {item: pick(row for row in windows if row[1] == item) for _, item, *_ in windows}
        assert database.rows(word) == Counter((item, n, start) for start, item, n, _ in picked.values())


def test_changes_of_early_results_leave_the_rows_of_batch(database: Database, spark: SparkSession, rows: Path) -> None:
    database.connection.execute(f"CREATE TABLE early {IN_POSTGRES}")
    session = Session(spark, mode="streaming")
    table = f"CREATE TABLE early ({TOTALS}, {KEYED}) " + STORE.format(database.url, "early")
    session.execute(BIDS.format(rows) + table + "SET 'table.exec.emit.early-fire.enabled' = 'true'")
    session.execute(f"INSERT INTO early {QUERY.format('')}")
    assert database.rows("early") == expected(spark, rows)

    def change(op: str, n: int) -> tuple[Any, ...]:
        return op, datetime(2000, 1, 1), "z", n

    schema = "op STRING, window_start TIMESTAMP_NTZ, item STRING, n BIGINT"
    keys = ["window_start", "item"]
    for number, changes in enumerate(([change("+I", 1), change("-U", 1), change("+U", 2)], [change("-D", 2)])):
        frame = spark.createDataFrame(changes, schema).coalesce(1)
        for _ in range(2):  # the second one is a repetition
            write_postgres(frame, number, "early", url=database.url, options={"user": "postgres"}, keys=keys, op="op")
        n = database.connection.execute("SELECT n FROM early WHERE item = 'z'").fetchall()
        assert n == ([] if number else [(2,)])


def test_groups_without_a_window_replace_their_rows(
    database: Database, spark: SparkSession, rows: Path, tmp_path: Path
) -> None:
    """By Spark's own aggregate, and from a checkpoint. NULL is no key of a table."""
    database.connection.execute("CREATE TABLE counts (item TEXT PRIMARY KEY, n BIGINT, total NUMERIC(38, 2))")
    query = "SELECT {} AS item, COUNT(*) AS n, SUM(price) AS total FROM bid GROUP BY {}"
    columns = "item STRING, n BIGINT, total DECIMAL(38, 2), PRIMARY KEY (item) NOT ENFORCED"
    for key, number in (("COALESCE(item, '')", 1), ("COALESCE(item, '')", 2), ("NULLIF(item, 'A')", 3)):
        session = Session(spark, mode="streaming", checkpoint=tmp_path / str(number // 3))
        session.execute(BIDS.format(rows) + f"CREATE TABLE counts ({columns}) " + STORE.format(database.url, "counts"))
        if number == 3:
            with pytest.raises(TvfSqlError, match="null value in column"):
                session.execute(f"INSERT INTO counts {query.format(key, key)}")
            continue
        session.execute(f"INSERT INTO counts {query.format(key, key)}")
        assert database.rows("counts") == expected(spark, rows, query.format(key, key))
        write_files(rows, some_batches(seed=3, disorder=30, batches=6))


@pytest.mark.parametrize("together", [True, False])
def test_a_changelog_by_key_is_copied_with_its_deletes(
    database: Database, spark: SparkSession, tmp_path: Path, together: bool
) -> None:
    """Several changes of a key in a micro-batch, of which a condition takes out some, and a restart; both tables in one
    statement set, or each by itself."""
    draw, told, left = random.Random(5), list[dict[str, Any]](), dict[int, dict[str, Any]]()
    for _ in range(160):
        key = draw.randrange(8)
        if key in left and draw.random() < 0.3:
            told.append({"op": "-D", **left.pop(key)})
        else:
            left[key] = {"id": key, "item": draw.choice("ab"), "n": draw.randrange(6)}
            told.append({"op": "+U", **left[key]})
    copied, parts = (f"{name}_{'together' if together else 'apart'}" for name in ("copied", "parts"))
    database.connection.execute(f"CREATE TABLE {copied} (id INT PRIMARY KEY, item TEXT, n INT)")
    database.connection.execute(f"CREATE TABLE {parts} (part TEXT, id INT, n INT, PRIMARY KEY (part, id))")
    inserts = (
        f"INSERT INTO {copied} SELECT id, item, n FROM src WHERE n > 2",
        f"INSERT INTO {parts} SELECT UPPER(item), id, n FROM src",
    )
    for upto in (2, 4):
        write_files(tmp_path / "in", [told[40 * i : 40 * (i + 1)] for i in range(upto)])
        session = Session(
            spark,
            mode="streaming",
            checkpoint=tmp_path / "state",
            options={"table.exec.source.cdc-events-duplicate": "true"},
        )
        session.execute(
            "CREATE TABLE src (op STRING, id INT, item STRING, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH ("
            f"'connector' = 'filesystem', 'path' = '{tmp_path / 'in'}', 'format' = 'json', 'changelog.op' = 'op');"
            f"CREATE TABLE {copied} (id INT, item STRING, n INT, PRIMARY KEY (id) NOT ENFORCED)"
            f" {STORE.format(database.url, copied)}"
            f"CREATE TABLE {parts} (part STRING, id INT, n INT, PRIMARY KEY (part, id) NOT ENFORCED)"
            f" {STORE.format(database.url, parts)}"
        )
        both = "; ".join(inserts)
        session.execute(f"EXECUTE STATEMENT SET BEGIN {both}; END" if together else both)
    assert database.rows(copied) == Counter((row["id"], row["item"], row["n"]) for row in left.values() if row["n"] > 2)
    assert database.rows(parts) == Counter((row["item"].upper(), row["id"], row["n"]) for row in left.values())


def test_orders_that_change_their_customers_are_joined_with_customers_that_change(
    database: Database, spark: SparkSession, tmp_path: Path
) -> None:
    """A join by another key than that of the table: changes of one row come from two tasks. And a restart."""
    draw = random.Random(7)
    left: dict[str, dict[int, dict[str, Any]]] = {"orders": {}, "customers": {}}
    batches: dict[str, list[list[dict[str, Any]]]] = {name: [] for name in left}
    for _ in range(6):
        for name, rows in left.items():
            told = list[dict[str, Any]]()
            for _ in range(24):
                key, before = draw.randrange(12), "-U"
                if key in rows and draw.random() < 0.25:
                    told.append({"op": "-D", **rows.pop(key)})
                    continue
                told += [{"op": before, **rows[key]}] if key in rows else []
                rows[key] = {"id": key, "other": draw.randrange(12)}
                told.append({"op": "+U" if len(told) and told[-1]["op"] == before else "+I", **rows[key]})
            batches[name].append(told)
    database.connection.execute("CREATE TABLE enriched (id INT PRIMARY KEY, customer INT, region INT)")
    table = (
        "CREATE TABLE {0} (op STRING, id INT, other INT) WITH ('connector' = 'filesystem', 'path' = '{1}/{0}',"
        " 'format' = 'json', 'changelog.op' = 'op');"
    )
    for upto in (3, 6):
        session = Session(
            spark, mode="streaming", checkpoint=tmp_path / "state", options={"table.exec.state.ttl": "1 d"}
        )
        for name, files in batches.items():
            write_files(tmp_path / name, files[:upto])
            session.execute(table.format(name, tmp_path))
        session.execute(
            "CREATE TABLE enriched (id INT, customer INT, region INT, PRIMARY KEY (id) NOT ENFORCED) "
            + STORE.format(database.url, "enriched")
        )
        session.execute(
            "INSERT INTO enriched SELECT o.id, o.other, c.other FROM orders AS o LEFT JOIN customers AS c"
            " ON o.other = c.id"
        )
    customers = {row["id"]: row["other"] for row in left["customers"].values()}
    orders = left["orders"].values()
    assert database.rows("enriched") == Counter((o["id"], o["other"], customers.get(o["other"])) for o in orders)


@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="twenty kills, in `make soak`; `make test` repeats micro-batches by hand")
@pytest.mark.parametrize("keyed", [True, False])
def test_a_killed_stream_writes_each_row_once(
    database: Database, spark: SparkSession, rows: Path, tmp_path: Path, keyed: bool
) -> None:
    """Also into a table without a key, where a repeated micro-batch would add its rows again."""
    table, draw = f"killed_{keyed}".lower(), random.Random(5)
    database.connection.execute(f"CREATE TABLE {table} {IN_POSTGRES}")
    if not keyed:
        database.connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT {table}_pkey")
    columns = f"{TOTALS}, {KEYED}" if keyed else TOTALS
    text = BIDS.format(rows) + f"CREATE TABLE {table} ({columns}) " + STORE.format(database.url, table)
    (tmp_path / "script.sql").write_text(f"{text}INSERT INTO {table} {QUERY.format('')};")
    checkpoint = tmp_path / "checkpoint"
    for wanted in range(20):
        run = start(tmp_path / "script.sql", checkpoint)
        try:
            wait_for(lambda wanted=wanted: commits(checkpoint / "1") >= wanted, run)
            time.sleep(draw.random() / 2)
            assert run.poll() is None, "too late to kill"
        finally:
            kill(run)
    assert start(tmp_path / "script.sql", checkpoint).wait() == 0
    assert database.rows(table) == expected(spark, rows)
