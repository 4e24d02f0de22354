"""A query whose results tests write into tables with a primary key: totals by window and item."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BIDS = """CREATE TABLE bid (ts TIMESTAMP(3), item STRING, price DECIMAL(10, 2), n INT,
    WATERMARK FOR ts AS ts - INTERVAL '30' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'json', 'maxFilesPerTrigger' = '1');
"""
TOTALS = "window_start TIMESTAMP(3), item STRING, n BIGINT, total DECIMAL(20, 2)"
KEYED = "PRIMARY KEY (window_start, item) NOT ENFORCED"
QUERY = """SELECT window_start, COALESCE(item, '') AS item, COUNT(*) AS n, CAST(SUM(price) AS DECIMAL(20, 2)) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, COALESCE(item, '')"""
EARLY = "SET 'table.exec.emit.early-fire.enabled' = 'true';\n"


def expected(spark: SparkSession, folder: Path, query: str = QUERY) -> Counter[Any]:
    """The rows of a query over the files in a folder, in batch."""
    session = Session(spark, mode="batch")
    session.execute(BIDS.format(folder))
    return Counter(map(tuple, session.sql(query).collect()))
