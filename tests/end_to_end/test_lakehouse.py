"""Tables of Delta and Iceberg: read, appended to, and rows replaced by primary key; in batch, on streams, after kills.

Neither has a release for every Spark: `make test-spark42` runs these tests with Delta, `make test-spark41` with both.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bids import some_batches, write_files
from tests.support.examples import SOAK
from tests.support.killing import commits, kill, start, wait_for
from tests.support.lakehouse import FORMATS, missing, settings
from tests.support.totals import BIDS, KEYED, QUERY, TOTALS, expected
from tvfsql import Session, TvfSqlError
from tvfsql.runtime.databases.lakehouse import merge_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.lakehouse]


class Lake:
    """Tables of a format in a folder, or for Iceberg, whose catalog keeps its folder, in a database of its own."""

    def __init__(self, spark: SparkSession, format: str, folder: Path) -> None:
        self.spark, self.format, self.folder = spark, format, folder
        self.warehouse = folder.parent.parent / "iceberg"
        if format == "iceberg":
            spark.conf.set("spark.sql.catalog.lake.warehouse", str(self.warehouse))

    def name(self, table: str) -> str:
        return f"delta.`{self.folder / table}`" if self.format == "delta" else f"lake.{self.folder.parent.name}.{table}"

    def create(self, table: str, columns: str, options: str = "") -> str:
        """The statement that declares the table; the first INSERT creates it."""
        name = self.name(table)
        return (
            f"CREATE TABLE {table} ({columns}) WITH ('connector' = 'spark-catalog', 'table-name' = '{name}', "
            f"'format' = '{self.format}'{options});\n"
        )

    def rows(self, table: str) -> Counter[Any]:
        if self.format == "iceberg":  # its catalog keeps what it has read
            self.spark.catalog.refreshTable(self.name(table))
        return Counter(map(tuple, self.spark.table(self.name(table)).collect()))


@pytest.fixture(params=FORMATS)
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lake]:
    if why_not := missing(request.param):
        pytest.skip(why_not)
    yield Lake(request.getfixturevalue("spark"), request.param, tmp_path / "lake")


@pytest.fixture
def bids(tmp_path: Path) -> Path:
    write_files(tmp_path / "in", some_batches(seed=3, disorder=30, batches=20 if SOAK else 3))
    return tmp_path / "in"


def test_batch_replaces_rows_of_a_key_and_adds_others(lake: Lake, bids: Path) -> None:
    session = Session(lake.spark, mode="batch")
    session.execute(BIDS.format(bids) + lake.create("totals", f"{TOTALS}, {KEYED}"))
    session.execute("INSERT INTO totals VALUES (TIMESTAMP '2020-04-15 08:00:00', 'A', 1, 0.5)")
    before = lake.rows("totals")
    for _ in range(2):
        session.execute(f"INSERT INTO totals {QUERY}")
    wanted = expected(lake.spark, bids)
    replaced = {row[:2] for row in wanted}
    assert lake.rows("totals") == wanted + Counter(row for row in before if row[:2] not in replaced)
    assert Counter(map(tuple, session.sql("SELECT * FROM totals").collect())) == lake.rows("totals")
    with pytest.raises(TvfSqlError, match=r"two rows for table .* have the same primary key"):
        session.execute("INSERT INTO totals SELECT ts, 'x', 1, price FROM bid UNION ALL SELECT ts, 'x', 2, 1 FROM bid")
    at = "TIMESTAMP '2000-01-01 12:00:00'"
    for order, word, n in (("ASC", "NOTHING", 0), ("DESC", "NOTHING", 0), ("ASC", "DEDUPLICATE", 9)):
        numbers = f"(SELECT n FROM (VALUES {', '.join(f'({n})' for n in range(10))}) AS t (n) ORDER BY n {order})"
        session.execute(f"INSERT INTO totals SELECT {at}, 'x', n, 1 FROM {numbers} ON CONFLICT DO {word}")
        assert [row[2] for row in lake.rows("totals") if row[1] == "x"] == [n]
    with pytest.raises(TvfSqlError, match=r"has a NULL in its primary key \(window_start, item\)"):
        session.execute("INSERT INTO totals SELECT ts, CAST(NULL AS STRING), 1, 1 FROM bid LIMIT 1")


def test_rows_of_other_formats_are_not_replaced(lake: Lake) -> None:
    lake.spark.sql("CREATE TABLE of_parquet (n INT) USING parquet")
    session = Session(lake.spark, mode="batch")
    session.execute(
        "CREATE TABLE p (n INT PRIMARY KEY NOT ENFORCED) "
        "WITH ('connector' = 'spark-catalog', 'table-name' = 'of_parquet')"
    )
    try:
        with pytest.raises(TvfSqlError, match=r"rows of table of_parquet cannot be replaced .* its format is parquet"):
            session.execute("INSERT INTO p VALUES (1)")
    finally:
        lake.spark.sql("DROP TABLE of_parquet")


def test_changes_of_early_results_leave_the_rows_of_batch(lake: Lake, bids: Path) -> None:
    """And a micro-batch whose number is known changes nothing."""
    spark = lake.spark
    session = Session(spark, mode="streaming")
    table = lake.create("early", f"op STRING, {TOTALS}, {KEYED}", ", 'changelog.op' = 'op'")
    session.execute(BIDS.format(bids) + table + "SET 'table.exec.emit.early-fire.enabled' = 'true'")
    session.execute(f"INSERT INTO early {QUERY}")
    wanted = expected(spark, bids)
    assert lake.rows("early") == wanted

    def write(number: int, *changes: tuple[str, int]) -> Counter[Any]:
        rows = [(op, datetime(2000, 1, 1), "z", n) for op, n in changes]
        frame = spark.createDataFrame(rows, "op STRING, window_start TIMESTAMP_NTZ, item STRING, n BIGINT").coalesce(1)
        merge_rows(frame, number, lake.name("early"), keys=["window_start", "item"], op="op")
        return Counter(row[2] for row in (lake.rows("early") - wanted).elements())

    assert write(0, ("+I", 1), ("-U", 1), ("+U", 2)) == Counter([2])
    assert write(0, ("+U", 7)) == Counter([2])
    assert write(1, ("-U", 2), ("+U", 3)) == Counter([3])
    assert write(2, ("-D", 3)) == Counter()
    assert write(1, ("+I", 9)) == Counter()


def test_a_stream_reads_a_table_and_appends_to_another_one_once(lake: Lake, tmp_path: Path) -> None:
    """The kill: Spark has not logged that the last micro-batch was written."""
    spark = lake.spark
    for table in ("source", "target"):
        spark.sql(f"CREATE TABLE {lake.name(table)} (n INT, item STRING) USING {lake.format}")
    for n in (1, 2):
        spark.sql(f"INSERT INTO {lake.name('source')} VALUES ({n}, 'a'), ({n}, NULL)")
    text = lake.create("source", "n INT, item STRING") + lake.create("target", "item STRING, n INT")
    for _ in range(2):
        session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=True)
        session.execute(f"{text} INSERT INTO target (item, n) SELECT item, n FROM source")
        assert lake.rows("target") == Counter({(n, item): 1 for n in (1, 2) for item in ("a", None)})
        for commit in (tmp_path / "checkpoint" / "1" / "spark" / "commits").glob("*0*"):
            commit.unlink()


def test_the_number_of_a_stream_outlives_its_snapshots(lake: Lake) -> None:
    """Another writer adds snapshots, and expires all but its own."""
    if lake.format != "iceberg":
        pytest.skip("Delta keeps numbers in its log")
    spark, name = lake.spark, lake.name("kept")
    spark.sql(f"CREATE TABLE {name} (n INT) USING iceberg")

    def write(number: int, n: int) -> None:
        merge_rows(spark.createDataFrame([(n,)], "n INT"), number, name, keys=["n"])

    write(3, 1)
    spark.sql(f"INSERT INTO {name} VALUES (7)")
    java: Any = spark._jvm
    table = java.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, name)
    table.expireSnapshots().expireOlderThan(java.Long.MAX_VALUE).retainLast(1).commit()
    spark.catalog.refreshTable(name)
    assert spark.table(f"{name}.snapshots").count() == 1
    write(3, 2)
    assert sorted(row[0] for row in lake.rows("kept")) == [1, 7]
    write(4, 2)
    assert sorted(row[0] for row in lake.rows("kept")) == [1, 2, 7]


def test_windows_of_a_change_feed_are_those_of_the_rows_that_are_left(lake: Lake) -> None:
    """In batch; on streams that begin with the rows, or with the first change; commit by commit."""
    if lake.format != "delta":
        pytest.skip("Iceberg has no release for Spark 4.2, which has `changes`")
    spark, name = lake.spark, lake.name("stock")
    spark.sql(
        f"CREATE TABLE {name} (item STRING, price INT, changed TIMESTAMP_NTZ) USING delta "
        "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
    )
    rows = ", ".join(f"('{'abc'[i % 3]}', {i}, TIMESTAMP_NTZ'2020-01-01 00:{i:02}:00')" for i in range(30))
    for change in (
        f"INSERT INTO {name} VALUES {rows}",
        f"UPDATE {name} SET price = price * 10 WHERE item = 'a'",
        f"DELETE FROM {name} WHERE item = 'b' AND price > 9",
        f"UPDATE {name} SET item = 'd' WHERE item = 'c'",
        f"INSERT INTO {name} VALUES ('b', 7, TIMESTAMP_NTZ'2020-01-01 00:25:00')",
    ):
        spark.sql(change)

    def windows(mode: str, options: str = "") -> Counter[Any]:
        columns = "item STRING, price INT, changed TIMESTAMP(3), WATERMARK FOR changed AS changed - INTERVAL '1' DAY"
        session = Session(spark, mode=mode)
        session.execute(lake.create("stock", columns, f", 'changelog.feed' = 'true'{options}"))
        return Counter(
            map(
                tuple,
                session.sql(
                    "SELECT window_start, item, COUNT(*), SUM(price), MAX(price) FROM TABLE(TUMBLE(TABLE stock, "
                    "DESCRIPTOR(changed), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item"
                ).collect(),
            )
        )

    wanted = windows("batch")
    assert {row[1:] for row in wanted if row[0].minute == 20} == {("a", 3, 720, 270), ("b", 1, 7, 7), ("d", 4, 98, 29)}
    first = ", 'startingVersion' = '0'"
    assert windows("streaming") == windows("batch", first) == wanted
    assert windows("streaming", f"{first}, 'maxFilesPerTrigger' = '1'") == wanted


@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="20 kills, in `make soak`; the other tests repeat micro-batches by hand")
def test_a_killed_stream_leaves_the_folded_changes(lake: Lake, bids: Path, tmp_path: Path) -> None:
    jars, more = settings()
    submit, draw = (
        f"--jars {','.join(jars)} {more} --conf spark.sql.catalog.lake.warehouse={lake.warehouse}",
        random.Random(5),
    )
    table = lake.create("killed", f"op STRING, {TOTALS}, {KEYED}", ", 'changelog.op' = 'op'")
    early = "SET 'table.exec.emit.early-fire.enabled' = 'true';\n"
    script, checkpoint = tmp_path / "script.sql", tmp_path / "checkpoint"
    script.write_text(f"{BIDS.format(bids)}{table}{early}INSERT INTO killed {QUERY};")
    for wanted in range(20):
        run = start(script, checkpoint, submit=submit)
        try:
            wait_for(lambda wanted=wanted: commits(checkpoint / "1") >= wanted, run)
            time.sleep(draw.random() / 2)
            assert run.poll() is None, "too late to kill"
        finally:
            kill(run)
    assert start(script, checkpoint, submit=submit).wait() == 0
    assert lake.rows("killed") == expected(lake.spark, bids)
