"""Tables of Spark's catalogs, read and filled in batch and on streams."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession

from tvfsql import Session
from tvfsql.errors import DataError, UnsupportedError

pytestmark = pytest.mark.spark
PER_MINUTE = """
SELECT window_end, item, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE shop.bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, item"""


@pytest.fixture
def shop(spark: SparkSession, tmp_path: Path) -> Iterator[SparkSession]:
    """A database with bids in two files: 4 of apples and 2 of pears in each of two minutes."""
    spark.sql(f"CREATE DATABASE shop LOCATION '{tmp_path / 'shop'}'")
    spark.sql("CREATE TABLE shop.bid (price INT, item STRING, bidtime TIMESTAMP_NTZ) USING parquet")
    spark.sql("CREATE TABLE shop.totals (n BIGINT, window_end TIMESTAMP_NTZ, item STRING) USING parquet")
    spark.sql("CREATE TABLE shop.by_item (price SMALLINT, item STRING) USING orc PARTITIONED BY (item)")
    for minute in (0, 1):
        item, time = "IF(id < 4, 'apple', 'pear')", f"TIMESTAMP_NTZ'2024-01-01 00:0{minute}:00'"
        spark.sql(f"INSERT INTO shop.bid SELECT id + 10 * {minute}, {item}, {time} FROM range(0, 6, 1, 1)")
    yield spark
    spark.sql("DROP DATABASE shop CASCADE")


def rows(session: Session, sql: str) -> list[Row]:
    return sorted(session.sql(sql).collect())


def test_both_modes_read_and_fill_them_by_the_names_of_their_columns(shop: SparkSession, tmp_path: Path) -> None:
    batch = Session(shop)
    batch.execute("ALTER TABLE shop.bid ADD WATERMARK FOR bidtime AS bidtime; USE shop")
    insert = f"INSERT INTO totals (window_end, item, n) {PER_MINUTE}"
    batch.execute(insert)
    totals = rows(batch, "SELECT item, n FROM totals")
    assert totals == [("apple", 4), ("apple", 4), ("pear", 2), ("pear", 2)]

    stream = Session(shop, mode="streaming", catalog=batch.catalog)
    by_item = f"INSERT INTO shop.by_item (item, price) SELECT item, CAST(n AS SMALLINT) FROM ({PER_MINUTE})"
    stream.execute(f"USE shop; EXECUTE STATEMENT SET BEGIN {insert}; {by_item}; END")
    assert rows(batch, "SELECT item, n FROM totals") == sorted(totals * 2)  # not what was listed before the stream
    assert rows(batch, "SELECT item, price FROM by_item") == totals
    batch.execute(f"INSERT OVERWRITE totals (window_end, item, n) {PER_MINUTE}")
    assert rows(batch, "SELECT item, n FROM shop.totals") == totals


def test_a_micro_batch_that_is_repeated_after_a_kill_is_there_once(shop: SparkSession, tmp_path: Path) -> None:
    """The kill: Spark has not logged that the last micro-batch was written."""
    bids = "shop.bid /*+ OPTIONS('maxFilesPerTrigger' = '1') */"
    insert = f"INSERT INTO shop.by_item (item, price) SELECT item, CAST(price AS SMALLINT) FROM {bids}"
    once = [(price, item) for price, item in shop.sql("SELECT price, item FROM shop.bid").collect()]
    for _ in range(2):
        Session(shop, mode="streaming", checkpoint=tmp_path / "checkpoint", final=True).execute(insert)
        assert sorted(map(tuple, shop.table("shop.by_item").collect())) == sorted(once)
        for commit in (tmp_path / "checkpoint" / "1" / "spark" / "commits").glob("*1*"):
            commit.unlink()
    Session(shop, mode="streaming", checkpoint=tmp_path / "other", final=True).execute(insert)
    assert shop.table("shop.by_item").count() == 2 * len(once)


def test_what_streams_cannot_do_with_them_is_an_error(shop: SparkSession, tmp_path: Path) -> None:
    """Spark's own stream sink leaves a file log, which would hide what others write."""
    stream = Session(shop, mode="streaming")
    shop.sql("CREATE VIEW shop.recent AS SELECT * FROM shop.bid")
    with pytest.raises(UnsupportedError, match=r"shop\.recent is a view of Spark"):
        stream.sql("SELECT item FROM shop.recent")
    (tmp_path / "shop" / "totals" / "_spark_metadata").mkdir()
    with pytest.raises(DataError, match=r"table shop\.totals has a file log"):
        stream.execute("INSERT INTO shop.totals (item) SELECT item FROM shop.bid")
