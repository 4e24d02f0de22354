"""A stream whose query gets one more table between two runs, on Spark: its state goes on, and the table's rows count
from then on. The added table is in front, so the others change their places.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.examples import SOAK
from tests.support.killing import PATIENCE, commits, kill, start, wait_for
from tvfsql import Session, TvfSqlError
from tvfsql.errors import OptionError
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.time.control_channel import advance

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = """
CREATE TABLE {name} (item STRING, price BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '9' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{folder}/{name}', 'format' = 'json', {options});
"""
WINDOWS = """SELECT window_end, item, COUNT(*) AS n, SUM(price) AS total
FROM TABLE(HOP(({rows}), DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '3' MINUTE))
GROUP BY window_start, window_end, item"""
PAIRS = """SELECT o.item, o.price, o.ts, s.price FROM ({rows}) o JOIN shop s
ON o.item = s.item AND o.ts BETWEEN s.ts - INTERVAL '1' MINUTE AND s.ts"""
BOTH = "SELECT item, price, ts FROM sale UNION ALL SELECT item, price, ts FROM {bid}"
BEHIND = 400  # seconds: when the table is added, all windows that end before are closed
Rows = list[tuple[str, int, int]]


@dataclass(frozen=True)
class Query:
    """A query over {rows}, which are those of `bid` at first; `batch` is the table that has all of them."""

    query: str
    bid: str = "bid"


QUERIES = {
    "windows": Query(WINDOWS),
    "windows with a history": Query(WINDOWS, "live"),
    "a side of a join": Query(PAIRS),
}


@pytest.mark.soak
@pytest.mark.spark
@pytest.mark.parametrize("kind", QUERIES if SOAK else [*QUERIES][1:])
def test_rows_of_an_added_table_count_from_then_on(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    """The rows of batch, without the added rows that were late when they came."""
    query, draw = QUERIES[kind], random.Random(kind)
    before = query.query.format(rows=f"SELECT item, price, ts FROM {query.bid}")
    after = query.query.format(rows=BOTH.format(bid=query.bid))
    for name in ("past", "shop", "sale"):
        write(tmp_path / name, 0, rows_between(draw, 0, 200) if name == "past" else [])
    write(tmp_path / query.bid, 0, rows_between(draw, 200, BEHIND))
    write(tmp_path / query.bid, 1, [("end", 0, BEHIND + 9)])
    write(tmp_path / "shop", 1, rows_between(draw, 200, BEHIND + 9))
    first = stream(spark, tmp_path)
    found = Counter(first.sql(before).collect())
    if kind == "a side of a join":  # what the control channel brought before is not for the added table
        advance(LocalPlace(tmp_path / "checkpoint" / "1" / "control"), 0)
        found.update(stream(spark, tmp_path).sql(before).collect())
    groups = json.loads((tmp_path / "checkpoint" / "1" / "parallelism.json").read_text())

    early, late = rows_between(draw, BEHIND, 600), rows_between(draw, 0, 150)
    write(tmp_path / "sale", 1, [*late, *early])
    write(tmp_path / query.bid, 2, rows_between(draw, BEHIND + 9, 600))
    write(tmp_path / "shop", 2, rows_between(draw, BEHIND + 9, 600))
    with pytest.raises(OptionError, match=r"\+ sale \(.*\n.*--allow-changed-input reuses this state"):
        stream(spark, tmp_path).sql(after).collect()
    second = stream(spark, tmp_path, allowed=True)
    found.update(second.sql(after).collect())
    write(tmp_path / "sale", 2, rows_between(draw, 600, 700))
    last = stream(spark, tmp_path, final=True)
    found.update(last.sql(after).collect())

    assert second.counts["numLateRecordsDropped"] == len(late)
    assert first.counts["numLateRecordsDropped"] == last.counts["numLateRecordsDropped"] == 0
    assert json.loads((tmp_path / "checkpoint" / "1" / "parallelism.json").read_text()) == groups
    (tmp_path / "sale" / "1.json").unlink()
    write(tmp_path / "sale", 1, early)
    whole = Session(spark, mode="batch")
    create(whole, tmp_path)
    assert found == Counter(whole.sql(after).collect())
    assert max(found.values()) == 1 or kind == "a side of a join"


@pytest.mark.spark
def test_a_table_that_cannot_be_read_is_not_added(spark: SparkSession, tmp_path: Path) -> None:
    """The stream can go on without it, until a run reads it. Then WHERE FALSE leaves out its rows."""
    sides = [f"SELECT item, price, ts FROM {name}" for name in ("bid", "sale")]
    without, both = (WINDOWS.format(rows=" UNION ALL ".join(each)) for each in (sides[:1], sides))
    write(tmp_path / "bid", 0, [("a", 1, 10), ("a", 2, 400)])
    assert len(stream(spark, tmp_path).sql(without).collect()) == 3
    with pytest.raises(TvfSqlError, match="sale"):
        stream(spark, tmp_path, allowed=True).sql(both).collect()
    assert stream(spark, tmp_path).sql(without).collect() == []
    with pytest.raises(TvfSqlError, match="sale"):
        stream(spark, tmp_path, allowed=True).sql(both).collect()
    write(tmp_path / "sale", 0, [("b", 3, 410)])
    with pytest.raises(OptionError, match="--allow-changed-input"):
        stream(spark, tmp_path).sql(both).collect()
    stream(spark, tmp_path, allowed=True).sql(both).collect()
    with pytest.raises(OptionError, match=f"{NONE.removeprefix('FROM sale ')}"):
        stream(spark, tmp_path, allowed=True).sql(without).collect()
    write(tmp_path / "sale", 1, [("c", 4, 800)])
    rows = stream(spark, tmp_path, allowed=True, final=True).sql(both.replace("FROM sale", NONE)).collect()
    assert {(row["item"], row["n"]) for row in rows} == {("a", 1), ("b", 1)}
    assert len(rows) == 6


NONE = "FROM sale WHERE FALSE"


@pytest.mark.soak
@pytest.mark.spark
@pytest.mark.slow
def test_a_kill_in_the_micro_batch_that_adds_a_table_loses_no_row(spark: SparkSession, tmp_path: Path) -> None:
    """When its rows are being written; in `make soak` before also when it has its files. The run before was killed
    between writing its last rows and noting that.
    """
    draw, script = random.Random(1), tmp_path / "script.sql"
    sink = "CREATE TABLE totals (ends TIMESTAMP(3), item STRING, n BIGINT, total BIGINT) WITH ('connector' = "
    sink += f"'filesystem', 'path' = '{tmp_path}/totals', 'format' = 'json');\nINSERT INTO totals "
    tables = "".join(TABLE.format(name=name, folder=tmp_path, options=ONE_FILE) for name in ("bid", "sale"))
    before, after = (WINDOWS.format(rows=rows) for rows in ("SELECT * FROM bid", BOTH.format(bid="bid")))
    for number in range(2):
        write(tmp_path / "bid", number, rows_between(draw, number * BEHIND // 2, (number + 1) * BEHIND // 2))
    script.write_text(tables + sink + before)
    assert (
        start(
            script,
            tmp_path / "checkpoint",
        ).wait(PATIENCE)
        == 0
    )
    done = commits(tmp_path / "checkpoint" / "1")
    for name in (f"{done - 1}", f".{done - 1}.crc"):
        (tmp_path / "checkpoint" / "1" / "spark" / "commits" / name).unlink()
    write(tmp_path / "sale", 0, rows_between(draw, BEHIND, 900))
    write(tmp_path / "bid", 2, rows_between(draw, BEHIND, 900))
    script.write_text(tables + sink + after)
    offsets = tmp_path / "checkpoint" / "1" / "spark" / "offsets" / str(done)
    moments = [offsets.exists, lambda: offsets.exists() and is_written(tmp_path / "totals")]
    for seen in moments if SOAK else moments[1:]:
        run = start(script, tmp_path / "checkpoint", "--final", "--allow-changed-input")
        try:
            wait_for(seen, run)
        finally:
            kill(run)
        assert commits(tmp_path / "checkpoint" / "1") == done
    assert start(script, tmp_path / "checkpoint", "--final").wait(PATIENCE) == 0
    whole = Session(spark, mode="batch")
    whole.execute(tables)
    expected = Counter(tuple(row) for row in whole.sql(after).collect())
    found = spark.read.schema("ends TIMESTAMP_NTZ, item STRING, n BIGINT, total BIGINT").json(f"{tmp_path}/totals")
    assert Counter(map(tuple, found.collect())) == expected


ONE_FILE = "'maxFilesPerTrigger' = '1'"


def is_written(sink: Path) -> bool:
    """Whether the sink has a file more than its log names."""
    named = sum(len(file.read_text().splitlines()) - 1 for file in (sink / "_spark_metadata").glob("[0-9]*"))
    return sum(1 for _ in sink.glob("part-*")) > named


def stream(spark: SparkSession, folder: Path, *, allowed: bool = False, final: bool = False) -> Session:
    session = Session(
        spark, mode="streaming", checkpoint=folder / "checkpoint", final=final, allow_changed_input=allowed
    )
    create(session, folder)
    return session


def create(session: Session, folder: Path) -> None:
    for name in ("bid", "past", "live", "sale", "shop"):
        options = "'tvfsql.history' = 'past'" if name == "live" else "'json.mode' = 'FAILFAST'"
        session.execute(TABLE.format(name=name, folder=folder, options=options))


def rows_between(draw: random.Random, first: int, last: int) -> Rows:
    return [(draw.choice("abc"), draw.randrange(100), second) for second in range(first, last, draw.randrange(3, 9))]


def write(folder: Path, number: int, rows: Rows) -> None:
    told: list[dict[str, Any]] = [
        {"item": item, "price": price, "ts": f"2024-01-01 00:{second // 60:02}:{second % 60:02}"}
        for item, price, second in rows
    ]
    folder.mkdir(exist_ok=True)
    file = folder / f"{number}.json"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in told), encoding="utf-8")
    os.utime(file, (1_600_000_000 + number, 1_600_000_000 + number))  # files are read in the order of their times
