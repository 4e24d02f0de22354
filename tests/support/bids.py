"""Bids in files, for batch and streams alike."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BIDS = "ts TIMESTAMP(3), item STRING, price DECIMAL(10, 2), n INT, WATERMARK FOR ts AS ts - INTERVAL '{delay}' SECOND"
TOTALS = """SELECT window_start, window_end, item, SUM(price) AS total, COUNT(*) AS bids, AVG(n) AS mean,
    MIN(n) FILTER (WHERE n > 3) AS least, MAX(item) AS last_item, COUNT(DISTINCT n) AS numbers, SUM(DISTINCT n) AS sum,
    FIRST_VALUE(price) AS opening, LAST_VALUE(n) FILTER (WHERE n > 80) AS closing,
    LISTAGG(CAST(n AS STRING), '; ') AS ns,
    COLLECT(n) FILTER (WHERE n > 80) AS high, COLLECT_LIST(n) AS listed, ARRAY_AGG(price) AS prices,
    ARRAY_AGG(item) FILTER (WHERE n > 80) AS highs,
    SUM(DISTINCT CAST(n AS DECIMAL(30, 10))) AS wide,
    SUM(DISTINCT n / 8E0) AS eighths, AVG(DISTINCT CAST(n / 8E0 AS FLOAT)) FILTER (WHERE n > 3) AS eighth,
    COUNT(DISTINCT ARRAY[n, 1]) AS pairs, MAX(ARRAY[n, price]) AS most, MIN(ARRAY[price]) AS cheapest
FROM TABLE({window}) WHERE n < 90 GROUP BY window_start, window_end, item"""
WINDOWS = {
    "tumble": "TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '3' SECOND)",
    "hop": "HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '4' SECOND, INTERVAL '10' SECOND)",
    "cumulate": "CUMULATE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)",
}


def bag(rows: list[Any]) -> Counter[str]:
    return Counter(map(repr, rows))


def sessions(spark: SparkSession, folder: Path, delay: int) -> tuple[Session, Session]:
    """A streaming session and a batch one over the same files."""
    both = Session(spark, mode="streaming"), Session(spark)
    for session in both:
        create_table(session, "bid", BIDS.format(delay=delay), folder)
    return both


def create_table(session: Session, name: str, columns: str, folder: Path) -> None:
    session.execute(
        f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json', "
        "'maxFilesPerTrigger' = '1')"
    )


def write_files(folder: Path, batches: list[list[dict[str, Any]]]) -> None:
    """Write a file per batch; Spark reads them in the order of their modification times. Existing files stay."""
    folder.mkdir(exist_ok=True)
    for i, rows in enumerate(batches):
        file = folder / f"{i:03d}.json"
        if not file.exists():
            file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            os.utime(file, (1_600_000_000 + i, 1_600_000_000 + i))


def some_batches(seed: int, disorder: int, batches: int = 5, rows: int = 120) -> list[list[dict[str, Any]]]:
    """Batches of bids that are up to `disorder` seconds out of order, some with NULLs."""
    draw = random.Random(seed)
    made = []
    for i in range(batches * rows):
        ms = max(0, i * 200 - draw.randrange(disorder * 1000))
        made.append(
            {
                "ts": f"2020-04-15 08:{ms // 60000:02d}:{ms // 1000 % 60:02d}.{ms % 1000:03d}",
                "item": draw.choice(["A", "B", "C", None]),
                "price": draw.choice([f"{draw.randrange(10000) / 100:.2f}", None]),
                "n": draw.randrange(100),
            }
        )
    return [made[i : i + rows] for i in range(0, len(made), rows)]
