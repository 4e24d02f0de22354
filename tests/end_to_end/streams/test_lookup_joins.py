"""Lookup joins on Spark: streams give what batch gives and a model in Python says, and see changes of the table."""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tvfsql import Session
from tvfsql.runtime.stream.driver import source_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

START = datetime(2024, 2, 29)
Order = tuple[int | None, int, datetime]
Names = list[tuple[int | None, str | None]]


def csv(*values: Any) -> str:
    return ",".join("" if value is None else str(value) for value in values) + "\n"


def write(folder: Path, rows: list[Any], number: int = 0) -> None:
    folder.mkdir(exist_ok=True)
    file = folder / f"{number}.csv"
    file.write_text("".join(csv(*row) for row in rows), encoding="utf-8")
    os.utime(file, (number, number))  # file streams go by the time of a file


def orders(seed: int, files: int) -> list[list[Order]]:
    rng = random.Random(seed)
    return [
        [
            (rng.choice([None, *range(8)]), rng.randrange(10), START + timedelta(seconds=40 * (file * 40 + i)))
            for i in range(40)
        ]
        for file in range(files)
    ]


def session(spark: SparkSession, mode: str, folder: Path) -> Session:
    made = Session(spark, mode=mode)
    files = "WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '"
    made.execute(f"""
        CREATE TABLE orders (k INT, n INT, ts TIMESTAMP(3), proc AS PROCTIME(), WATERMARK FOR ts AS ts)
          {files}{folder}/orders', 'maxFilesPerTrigger' = '1');
        CREATE TABLE names (k INT, name STRING) {files}{folder}/names');
        CREATE VIEW named AS SELECT o.*, name FROM orders AS o
          JOIN names FOR SYSTEM_TIME AS OF o.proc AS d ON o.k = d.k AND o.n < CHAR_LENGTH(d.name) WHERE n > 2""")
    return made


QUERIES = {
    "inner": "SELECT k, n, name FROM named",
    "left": "SELECT o.k, n, name FROM orders AS o LEFT JOIN names FOR SYSTEM_TIME AS OF PROCTIME() AS d ON d.k = o.k",
    "windows": """SELECT window_start, name, COUNT(*), SUM(n)
        FROM TABLE(TUMBLE(TABLE named, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
        GROUP BY window_start, window_end, name""",
    "of windows": """SELECT w.window_start, s, name
        FROM (SELECT k, window_start, SUM(n) AS s, PROCTIME() AS proc
              FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
              GROUP BY k, window_start, window_end) AS w
        LEFT JOIN names FOR SYSTEM_TIME AS OF w.proc AS d ON w.k = d.k AND name LIKE 'a%'""",
}


def model(rows: list[Order], names: Names) -> dict[str, Counter[Any]]:
    def found(k: int | None) -> list[str | None]:
        return [name for key, name in names if k is not None and key == k]

    def window(ts: datetime) -> datetime:
        return ts - timedelta(minutes=ts.minute % 10, seconds=ts.second)

    inner = [(k, n, name, ts) for k, n, ts in rows for name in found(k) if n > 2 and name is not None and n < len(name)]
    left = [(k, n, name) for k, n, _ in rows for name in found(k) or [None]]
    sums, totals = Counter[Any](), Counter[Any]()
    for k, n, ts in rows:
        sums[window(ts), k] += n
    groups = Counter((window(ts), name) for _, _, name, ts in inner)
    for _, n, name, ts in inner:
        totals[window(ts), name] += n
    of_a = {key: [name for name in found(key) if name is not None and name.startswith("a")] for key, _ in names}
    return {
        "inner": Counter((k, n, name) for k, n, name, _ in inner),
        "left": Counter(left),
        "windows": Counter((*key, groups[key], totals[key]) for key in groups),
        "of windows": Counter((w, s, name) for (w, k), s in sums.items() for name in of_a.get(k) or [None]),
    }


def test_streams_and_batch_join_all_rows_of_the_table(spark: SparkSession, tmp_path: Path) -> None:
    names: Names = [(1, "one more"), (1, "another"), (2, "two"), (3, None), (None, "nobody"), (5, "alphabet")]
    write(tmp_path / "names", names)
    files = orders(seed=1, files=2)
    for number, rows in enumerate(files):
        write(tmp_path / "orders", rows, number)
    expected = model([row for rows in files for row in rows], names)
    assert all(len(rows) > 5 for rows in expected.values())
    for mode in ("batch", "streaming"):
        made = session(spark, mode, tmp_path)
        for name, query in QUERIES.items():
            if mode == "streaming" and "window" not in name:
                continue  # the other test has one of them
            assert Counter(map(tuple, made.sql(query).collect())) == expected[name], (mode, name)
        if mode == "streaming":
            assert made.counts["rowsIn"] == 80  # the table's rows are not counted


def test_a_stream_sees_the_table_as_it_is_when_a_micro_batch_runs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between micro-batches a file of the table is replaced, another one is added and removed."""
    listed = threading.Semaphore(0)
    again = source_files.FilesLookedUp.list_again

    def told(files: source_files.FilesLookedUp) -> None:
        again(files)
        listed.release()

    monkeypatch.setattr(source_files, "LISTING", 0.0)
    monkeypatch.setattr(source_files.FilesLookedUp, "list_again", told)
    versions: list[dict[int, Names]] = [
        {0: [(1, "a"), (2, "b")]},
        {0: [(1, "changed"), (2, "b"), (3, "new")], 1: [(4, "d"), (1, "second")]},
        {0: [(7, "all other")]},
    ]
    files = orders(seed=2, files=3)
    for number, rows in enumerate(files):
        write(tmp_path / "orders", rows, number)
    for number, content in versions[0].items():
        write(tmp_path / "names", content, number)
    made = session(spark, "streaming", tmp_path)
    found: list[Counter[Any]] = []

    def each(batch: Any) -> None:
        found.append(Counter(map(tuple, batch.collect())))
        if len(found) < len(versions):
            for file in (tmp_path / "names").iterdir():
                file.unlink()
            for number, content in versions[len(found)].items():
                write(tmp_path / "names", content, number)
            while listed.acquire(blocking=False):
                pass
            listed.acquire()  # this list may have been made before the change
            listed.acquire()

    made.each_batch(made.sql(QUERIES["left"]).query, each)
    expected = [
        model(rows, [pair for content in version.values() for pair in content])["left"]
        for rows, version in zip(files, versions, strict=True)
    ]
    assert [batch for batch in found if batch] == expected
