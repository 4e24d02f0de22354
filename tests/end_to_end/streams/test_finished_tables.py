"""Streams over one table that has ended and one without end emit what Flink does, which
tests/support/flink_finished_tables.py has asked. Source: docs/streams.md#runs-ends-and-lulls.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.finished_tables import create, told
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KINDS = {"timestamp_ntz": "TIMESTAMP(3)", "string": "STRING", "int": "INT", "bigint": "BIGINT"}
PATIENCE, SETTLED = 240, 2  # seconds: until all rows are there, and in which no other may come
FLINK = told()


@pytest.mark.spark
@pytest.mark.slow
def test_a_table_that_has_ended_and_one_without_end(spark: SparkSession, tmp_path: Path) -> None:
    """All queries at once, each a stream of its own."""
    session = Session(spark, mode="streaming")
    files = "'connector' = 'filesystem', 'path' = '{folder}', 'format' = 'csv'"
    create(FLINK, tmp_path, files, session.execute)
    expected = [Counter(map(tuple, query["rows"])) for query in FLINK["asked"]]
    assert all(expected)
    running = []
    try:
        for number, query in enumerate(FLINK["asked"]):
            types = [KINDS[kind] for _, kind in session.sql(query["sql"]).query.names_and_types]
            columns = ", ".join(f"c{i} {kind}" for i, kind in enumerate(types))
            session.execute(
                f"CREATE TABLE out{number} ({columns}) WITH ('connector' = 'filesystem', "
                f"'path' = '{tmp_path / f'out{number}'}', 'format' = 'json')"
            )
            running.append(session.sql(f"INSERT INTO out{number} {query['sql']}"))
            running[-1].start()
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and rows_of(tmp_path) != expected:
            time.sleep(0.5)
        time.sleep(SETTLED)
    finally:
        for result in running:
            result.stop()
    for query, found, wanted in zip(FLINK["asked"], rows_of(tmp_path), expected, strict=True):
        assert found == wanted, query["name"]


def rows_of(folder: Path) -> list[Counter[tuple[str | None, ...]]]:
    """The rows that each query has written, as texts."""
    return [
        Counter(
            tuple(text(json.loads(line).get(f"c{i}")) for i in range(len(query["rows"][0])))
            for file in sorted((folder / f"out{number}").glob("*.json"))
            for line in file.read_text(encoding="utf-8").splitlines()
        )
        for number, query in enumerate(FLINK["asked"])
    ]


def text(value: Any) -> str | None:
    """As Python's str() of what Flink gave."""
    if isinstance(value, str) and value[4:5] == "-" and "T" in value:
        return value[:19].replace("T", " ")
    return None if value is None else str(value)
