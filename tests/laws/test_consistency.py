"""While a stream runs: after each micro-batch all its tables hold what batch gives for the same first files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.bids import BIDS, create_table, some_batches, write_files
from tests.support.examples import SOAK
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = 6 if SOAK else 5
HOT = """CREATE VIEW hot AS SELECT window_end, item, COUNT(*) AS bids, SUM(n) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '30' SECOND)) GROUP BY window_start, window_end, item"""
QUERIES = {
    "counts": "SELECT CAST(window_end AS STRING) AS ends, item, bids AS n FROM hot",
    "totals": "SELECT CAST(window_end AS STRING) AS ends, item, total AS n FROM hot WHERE bids > 2",
}
EARLY = {
    "table.exec.emit.early-fire.enabled": "true",
    "table.exec.emit.early-fire.delay": "1 ms",
}
Rows = Counter[tuple[str, str | None, int]]


@pytest.mark.spark
@pytest.mark.soak
def test_tables_of_a_set_agree_on_what_has_been_read_at_any_time(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "in", some_batches(seed=11, disorder=20, batches=FILES, rows=60))
    session = Session(spark, mode="streaming", checkpoint=tmp_path / "state", options=EARLY, final=True)
    create_table(session, "bid", BIDS.format(delay=30), tmp_path / "in")
    session.execute(HOT)
    inserts = []
    for name, query in QUERIES.items():
        sink = f"'connector' = 'filesystem', 'path' = '{tmp_path / name}', 'format' = 'json', 'changelog.op' = 'op'"
        session.execute(f"CREATE TABLE {name} (op STRING, ends STRING, item STRING, n BIGINT) WITH ({sink})")
        inserts.append(f"INSERT INTO {name} {query};")
    session.execute(f"EXECUTE STATEMENT SET BEGIN {' '.join(inserts)} END")

    batches = {int(file.name.split("-")[2]) for name in QUERIES for file in (tmp_path / name).glob("batch-*")}
    shown = [{name: table(tmp_path / name, number) for name in QUERIES} for number in sorted(batches)]
    prefixes = [*of_batch(spark, tmp_path)]
    read = [prefixes.index(tables) + 1 for tables in shown]  # ValueError: no prefix gives these rows, or two do
    assert read == sorted(read)
    assert read[-1] == FILES and len({*read}) > 2


def table(folder: Path, upto: int) -> Rows:
    """What the changes in a folder, up to those of a micro-batch, leave."""
    rows: Rows = Counter()
    for file in folder.glob("batch-*"):
        if int(file.name.split("-")[2]) <= upto:
            for change in map(json.loads, file.read_text().splitlines()):
                row = (change["ends"], change.get("item"), change["n"])
                rows[row] += 1 if change["op"] in ("+I", "+U") else -1
    return Counter({row: count for row, count in rows.items() if count})


def of_batch(spark: SparkSession, folder: Path) -> Iterator[dict[str, Rows]]:
    """What batch gives for the first file, for the first two, and so on."""
    for files in range(1, FILES + 1):
        session = Session(spark)
        create_table(session, "bid", BIDS.format(delay=30), folder / f"first-{files}")
        (folder / f"first-{files}").mkdir()
        for file in sorted((folder / "in").iterdir())[:files]:
            (folder / f"first-{files}" / file.name).symlink_to(file)
        session.execute(HOT)
        yield {name: Counter(map(tuple, session.sql(query).collect())) for name, query in QUERIES.items()}
