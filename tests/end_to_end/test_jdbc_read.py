"""Tables of databases in batch queries. Derby comes with Spark, so its driver needs no download."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tvfsql import Session, TvfSqlError

pytestmark = pytest.mark.spark
TABLE = """CREATE TABLE sale (ts TIMESTAMP(3), item STRING, price DECIMAL(10, 2), WATERMARK FOR ts AS ts)
WITH ('connector' = 'jdbc', 'url' = '{}', 'table-name' = 'SALE')"""


def test_windows_over_a_table_of_a_database(spark: SparkSession, tmp_path: Path) -> None:
    url = f"jdbc:derby:{tmp_path / 'shop'}"
    rows = spark.sql(
        "SELECT TIMESTAMP_NTZ '2024-01-01 00:00:00' + make_dt_interval(0, 0, 0, id * 20) AS `TS`, "
        "concat('i', id % 2) AS `ITEM`, CAST(id / 4 AS DECIMAL(10, 2)) AS `PRICE` FROM range(6)"
    )
    rows.write.option("createTableColumnTypes", "ITEM VARCHAR(9)").jdbc(f"{url};create=true", "SALE")
    session = Session(spark, mode="batch")
    session.execute(TABLE.format(url))
    found = session.sql(
        "SELECT window_end, item, SUM(price) AS total FROM TABLE(TUMBLE(TABLE sale, DESCRIPTOR(ts), "
        "INTERVAL '1' MINUTE)) WHERE item <> 'i1' GROUP BY window_start, window_end, item"
    ).collect()
    assert {(row.window_end, row.item, float(row.total)) for row in found} == {
        (datetime(2024, 1, 1, 0, 1), "i0", 0.5),
        (datetime(2024, 1, 1, 0, 2), "i0", 1.0),
    }


@pytest.mark.parametrize("url", ["jdbc:mysql://127.0.0.1:1/shop", "jdbc:unheard-of://127.0.0.1:1/shop"])
def test_a_missing_driver_is_told_with_what_to_type(spark: SparkSession, url: str) -> None:
    session = Session(spark, mode="batch")
    session.execute(TABLE.format(url))
    with pytest.raises(TvfSqlError, match="Spark has no driver for this database") as error:
        session.sql("SELECT * FROM sale").collect()
    assert "spark.jars.packages" in str(error.value)
