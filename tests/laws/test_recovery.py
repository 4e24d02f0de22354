"""Streams that are killed: what the sink holds in the end is what it would have held."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.examples import SOAK
from tests.support.killing import PATIENCE, commits, kill, start, wait_for
from tvfsql import Session, compile
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.driver.checkpoints import claim

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES, ROWS = 32 if SOAK else 6, 6500
SCRIPT = """
CREATE TABLE bid (
    ts TIMESTAMP(3), item STRING, price DECIMAL(10, 2), n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{bids}', 'format' = 'parquet', 'maxFilesPerTrigger' = '1');
CREATE TABLE totals (ends TIMESTAMP(3), item STRING, bids BIGINT, total DECIMAL(20, 2), numbers BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{totals}', 'format' = 'parquet');
INSERT INTO totals
SELECT window_end, item, COUNT(*), CAST(SUM(price) AS DECIMAL(20, 2)), COUNT(DISTINCT n)
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, item;
"""

IN_ORDER = """
CREATE TABLE bid (
    ts TIMESTAMP(3), item STRING, price DECIMAL(10, 2), n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{bids}', 'format' = 'parquet', 'maxFilesPerTrigger' = '1');
CREATE TABLE falls (item STRING, since TIMESTAMP(3), until TIMESTAMP(3), many BIGINT, least DECIMAL(10, 2))
WITH ('connector' = 'filesystem', 'path' = '{sinks}/falls', 'format' = 'parquet');
CREATE TABLE filled (since TIMESTAMP(3), item STRING, bids BIGINT, dearest DECIMAL(10, 2))
WITH ('connector' = 'filesystem', 'path' = '{sinks}/filled', 'format' = 'parquet');
CREATE TABLE grid (ts TIMESTAMP(3), item STRING, price DECIMAL(10, 2), n INT)
WITH ('connector' = 'filesystem', 'path' = '{sinks}/grid', 'format' = 'parquet');
CREATE TABLE recent (ts TIMESTAMP(3), item STRING, price DECIMAL(10, 2), bids BIGINT, total BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{sinks}/recent', 'format' = 'parquet');
EXECUTE STATEMENT SET BEGIN
INSERT INTO falls SELECT * FROM bid MATCH_RECOGNIZE (
    PARTITION BY item ORDER BY ts, n, price
    MEASURES A.ts AS since, C.ts AS until, COUNT(B.n) AS many, LAST(B.price) AS least
    AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+ C) WITHIN INTERVAL '30' SECOND
    DEFINE B AS LAST(B.price, 1) IS NULL AND B.price < A.price OR B.price < LAST(B.price, 1), C AS C.n < 40
);
INSERT INTO filled SELECT window_start, item, COUNT(*), LOCF(MAX(price))
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' SECOND, FILL => INTERVAL '10' SECOND))
WHERE price < 100 GROUP BY window_start, window_end, item;
INSERT INTO grid SELECT ts, item, price, n FROM GAP_FILL(TABLE bid PARTITION BY item, DESCRIPTOR(ts),
    INTERVAL '0.1' SECOND, INTERPOLATE(price), KEEPNULL(n), MAX_GAP => INTERVAL '5' SECOND);
INSERT INTO recent SELECT ts, item, price, COUNT(*) OVER w, SUM(n) OVER w FROM bid
WINDOW w AS (PARTITION BY item ORDER BY ts RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING AND CURRENT ROW);
END;
"""


@dataclass(frozen=True)
class Moment:
    """When to kill: some seconds after something can be seen in the folders of checkpoint and sink."""

    what: str
    seen: Callable[[Path, Path], bool]
    delay: float = 0


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.soak
def test_kills_lose_no_row_and_double_none(spark: SparkSession, tmp_path: Path) -> None:
    """Late rows are dropped as without kills: a micro-batch that is run again has the same files. Spark lists them
    before it logs the micro-batch, so a kill between the two adds the next file; late rows are late either way."""
    write_bids(tmp_path / "bids", random.Random(1))
    session = Session(spark, mode="streaming", checkpoint=tmp_path / "calm", final=True)
    session.execute(SCRIPT.format(bids=tmp_path / "bids", totals=tmp_path / "expected"))
    expected = Counter(spark.read.parquet(str(tmp_path / "expected")).collect())
    assert session.counts["numLateRecordsDropped"] > 0
    assert len(expected) == sum(expected.values())

    totals, checkpoint = tmp_path / "totals", tmp_path / "checkpoint"
    (tmp_path / "script.sql").write_text(SCRIPT.format(bids=tmp_path / "bids", totals=totals))
    before = 0
    for moment in moments(random.Random(2)):
        run = start(tmp_path / "script.sql", checkpoint, "--final")
        try:
            wait_for(lambda moment=moment: moment.seen(checkpoint / "1", totals), run)
            time.sleep(moment.delay)
            assert run.poll() is None, f"too late to kill: {moment.what}"
        finally:
            kill(run)
        assert commits(checkpoint / "1") >= before
        before = commits(checkpoint / "1")
    last = start(tmp_path / "script.sql", checkpoint, "--final")
    assert last.wait(PATIENCE) == 0
    assert commits(checkpoint / "1") <= FILES + 1

    assert Counter(spark.read.parquet(str(totals)).collect()) == expected
    assert rows_of(committed(spark, totals)) == Counter(map(tuple, expected.elements()))


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.soak
def test_kills_change_no_row_of_patterns_gaps_and_over(spark: SparkSession, tmp_path: Path) -> None:
    """Four streams of one script; killed while the first one has so many micro-batches. Their rows are those of
    batch."""
    sinks, checkpoint, script = tmp_path / "sinks", tmp_path / "checkpoint", tmp_path / "script.sql"
    write_bids(tmp_path / "bids", random.Random(3), very_late=False)
    batch = IN_ORDER.format(bids=tmp_path / "bids", sinks=tmp_path / "expected")
    Session(spark, mode="batch").execute(batch)
    script.write_text(IN_ORDER.format(bids=tmp_path / "bids", sinks=sinks))
    for least in range(1, FILES, 4):
        run = start(script, checkpoint, "--final")
        wait_for(lambda least=least: commits(checkpoint / "1") >= least, run)
        time.sleep(random.Random(least).random())
        kill(run)
    assert start(script, checkpoint, "--final").wait(PATIENCE) == 0
    for name in ("falls", "filled", "grid", "recent"):
        found = Counter(spark.read.parquet(str(sinks / name)).collect())
        expected = Counter(spark.read.parquet(str(tmp_path / "expected" / name)).collect())
        assert len(expected) > 100, name
        assert found == expected, name


def test_a_kill_before_or_after_the_program_is_written_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = compile(SCRIPT.format(bids="bids", totals="totals"), mode="streaming").code
    program = tmp_path / "1" / "query.py"

    def killed(draft: str, target: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            claim(LocalPlace(program.parent), code)
    assert not program.exists()
    for _ in range(2):
        claim(LocalPlace(program.parent), code)
        assert program.read_text() == code


def moments(draw: random.Random) -> list[Moment]:
    """While rows are written, and after the input has ended; in `make soak` ten: one before rows are read, one when
    they begin to be, and seven while they are, four of these while rows are written."""

    def after(batches: int) -> Moment:
        return Moment(f"{batches} micro-batches", lambda folder, _: commits(folder) >= batches, draw.random())

    def writing(batches: int) -> Moment:
        what = f"{batches} micro-batches, and rows are written"
        return Moment(what, lambda folder, sink: commits(folder) >= batches and is_written(sink))

    begun = Moment("the stream is about to begin", lambda folder, _: (folder / "query.py").exists())
    first = Moment("the first rows", lambda folder, _: (folder / "spark" / "offsets" / "0").exists(), draw.random())
    ended = Moment("the input has ended", lambda folder, _: any((folder / "control").iterdir()), draw.random() / 5)
    at = sorted(draw.sample(range(1, FILES - 2 if SOAK else FILES // 2), 7 if SOAK else 1))
    while_read = [after(n) if i % 2 else writing(n) for i, n in enumerate(at)]
    return [*([begun, first] if SOAK else []), *while_read, ended]


def is_written(sink: Path) -> bool:
    """Whether there are rows that the sink's log does not know yet."""
    log = [file.stat().st_mtime_ns for file in (sink / "_spark_metadata").glob("[0-9]*")]
    return any(file.stat().st_mtime_ns > max(log, default=0) for file in sink.glob("*.parquet"))


def committed(spark: SparkSession, folder: Path) -> list[Path]:
    """The files of a sink that Spark's log names. A killed run may leave others, which only Spark passes over."""
    named = spark.read.parquet(str(folder)).inputFiles()
    return [Path(name.removeprefix("file://")) for name in named]


def rows_of(files: list[Path]) -> Counter[tuple[Any, ...]]:
    """The rows of parquet files, read without Spark."""
    rows = pa.concat_tables(pq.read_table(file, partitioning=None) for file in files).to_pylist()
    return Counter(tuple(row.values()) for row in rows)


def write_bids(folder: Path, draw: random.Random, *, very_late: bool = True) -> None:
    """A file a micro-batch, of 65 seconds: a bid each 10 ms, out of order by up to 5 seconds; after the first files one
    in fifty by 4 to 5 minutes, if any is to be so late."""
    folder.mkdir()
    schema = pa.schema(
        [("ts", pa.timestamp("ms")), ("item", pa.string()), ("price", pa.decimal128(10, 2)), ("n", pa.int32())]
    )
    for file in range(FILES):
        bids = []
        for i in range(file * ROWS, (file + 1) * ROWS):
            very = very_late and file >= 4 and draw.randrange(50) == 0
            late = draw.randrange(240_000, 300_000) if very else draw.randrange(5000)
            price = Decimal(draw.randrange(100_000)).scaleb(-2)
            bids.append((1_600_000_000_000 + i * 10 - late, draw.choice(["", None, *"abcdefgh"]), price, i % 50))
        path = folder / f"{file:03d}.parquet"
        columns = [pa.array(values, kind) for values, kind in zip(zip(*bids, strict=True), schema.types, strict=True)]
        pq.write_table(pa.table(columns, schema=schema), path)
        os.utime(path, (1_600_000_000 + file, 1_600_000_000 + file))
