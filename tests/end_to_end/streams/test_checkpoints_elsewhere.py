"""Streams whose checkpoint and tables are on HDFS or S3, stopped and killed: each row is there once, as in batch."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from tests.support.bids import bag, some_batches, write_files
from tests.support.examples import SOAK
from tests.support.killing import PATIENCE, kill, start, wait_for
from tests.support.small_spark import environment
from tvfsql import Session
from tvfsql.api.streams.state import check_checkpoint, read_streams, rescale_streams
from tvfsql.errors import DataError, OptionError
from tvfsql.runtime.cluster.places import place_of
from tvfsql.runtime.stream.checkpoint.sink_log import complete_logs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.hdfs_server import Hdfs

pytestmark = [pytest.mark.spark, pytest.mark.slow]

BID = """CREATE TABLE bid (ts TIMESTAMP(3), item STRING, price DECIMAL(10, 2), n INT,
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{bids}', 'format' = 'json', 'maxFilesPerTrigger' = '1');
"""
OUT = "CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{url}/{name}', 'format' = 'json');\n"
TOTALS = """SELECT window_end, item, COUNT(*) AS bids, SUM(n) AS numbers
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '20' SECOND))
GROUP BY window_start, window_end, item"""
BY_MINUTE = """SELECT window_end, SUM(n) AS numbers FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end"""
LATE = {"ts": "2020-04-15 08:00:00", "item": "late", "price": "1", "n": 1}  # the last row, late by minutes
EARLY = "CREATE VIEW early AS SELECT * FROM bid WHERE NOT item = 'late' OR item IS NULL;\n"
OF_EARLY = [text.replace("TABLE bid", "TABLE early") for text in (TOTALS, BY_MINUTE)]


def tables(bids: Path, url: str) -> str:
    columns = dict.fromkeys(("few", "many"), "window_end TIMESTAMP(3), item STRING, bids BIGINT, numbers BIGINT")
    columns |= {"minutes": "window_end TIMESTAMP(3), numbers BIGINT", "late": "ts TIMESTAMP(3), item STRING, n INT"}
    return BID.format(bids=bids) + "".join(OUT.format(name=name, columns=of, url=url) for name, of in columns.items())


INSERTS = f"""SET 'tvfsql.late-output' = 'late';
EXECUTE STATEMENT SET BEGIN
INSERT INTO few {TOTALS} HAVING COUNT(*) < 25;
INSERT INTO many {TOTALS} HAVING COUNT(*) >= 25;
END;
RESET 'tvfsql.late-output';
INSERT INTO minutes {BY_MINUTE};
"""


def write_bids(folder: Path, files: int, rows: int) -> None:
    """Files without late rows, but for the last row."""
    batches = some_batches(seed=1, disorder=3, batches=files, rows=rows)
    batches[-1].append(LATE)
    write_files(folder, batches)


def test_a_stream_on_hdfs_is_stopped_and_resumes(spark: SparkSession, hdfs: Hdfs, tmp_path: Path) -> None:
    """A statement set with a table for late rows, rescaled and resumed. Its state, its check and its folders are looked
    at."""
    url = f"{hdfs.url}/resumed"
    write_bids(tmp_path / "bids", 3, 300)
    later = [*sorted((tmp_path / "bids").iterdir())[1:]]
    for file in later:
        file.rename(tmp_path / file.name)
    script = tables(tmp_path / "bids", url) + INSERTS.partition("RESET")[0]
    stopped = Session(spark, mode="streaming", checkpoint=f"{url}/checkpoint", final=False)
    stopped.execute(script)
    for file in later:
        (tmp_path / file.name).rename(file)
    rescale_streams(lambda: spark, f"{url}/checkpoint", 2, 3, io.StringIO())
    resumed = Session(spark, mode="streaming", checkpoint=f"{url}/checkpoint", final=True)
    resumed.execute(script)

    found = Session(spark)
    found.execute(tables(tmp_path / "bids", url) + EARLY)
    totals = found.sql(OF_EARLY[0]).collect()
    for name, few in (("few", True), ("many", False)):
        rows = bag(found.table(name).collect())
        assert rows and rows == bag([row for row in totals if (row.bids < 25) == few])
    assert [row.item for row in found.table("late").collect()] == ["late"]

    (stream,) = read_streams(lambda: spark, f"{url}/checkpoint")
    assert stream.name == "1" and len(stream.operators) == 1
    place = place_of(f"{url}/checkpoint", lambda: spark)
    assert place.names() == ["1"]
    assert (place / "1").names() == [
        "closed.json",
        "control",
        "identity.json",
        "manifest.json",
        "metrics.json",
        "parallelism.json",
        "query.py",
        "spark",
    ]
    kept = json.loads((place / "1" / "metrics.json").read() or "")
    assert resumed.metrics()["1"]["rows_in"] == kept["rows_in"] == 3 * 300 + 1

    def check(script: str) -> str:
        planned, said = Session(spark, mode="streaming"), io.StringIO()
        check_checkpoint(place, list(planned.script.outcomes(script)), False, said)
        return said.getvalue()

    assert check(script.replace("< 25", "< 20")) == "stream 1 resumes\n"
    with pytest.raises(OptionError, match=f"the checkpoint {url}/checkpoint/1 belongs to another query"):
        check(script.replace("'20' SECOND", "'10' SECOND"))
    with pytest.raises(DataError, match="holds the output of another stream"):
        Session(spark, mode="streaming", checkpoint=f"{url}/other", final=True).execute(script)
    assert not any(":" in path.name for path in Path.cwd().iterdir()), "a folder with the name of a URL"


def test_spark_reads_a_folder_on_hdfs_whose_log_begins_late(spark: SparkSession, hdfs: Hdfs) -> None:
    """Without files so far, by whoever may read the folder."""
    url = f"{hdfs.url}/begun"
    for last in (20, 21):
        complete_logs(spark, last, (), [url])
    log = place_of(f"{url}/_spark_metadata", lambda: spark)
    found = sorted(log.names(), key=lambda name: int(name.partition(".")[0]))
    assert found == ["9.compact", *map(str, range(10, 19)), "19.compact", "20", "21"]
    assert (log / "19.compact").read() == "v1"
    assert spark.read.schema("n INT").json(url).collect() == []
    java: Any = spark._jvm
    path = java.org.apache.hadoop.fs.Path(str(log))
    files = path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    assert str(files.getFileStatus(path).getPermission()) == "rwxr-xr-x"


class Store(Protocol):
    """Where checkpoint and tables are, and how Spark gets there."""

    url: str
    submit: str


@pytest.fixture(params=["hdfs", "s3"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    if request.param == "hdfs":
        found = request.getfixturevalue("hdfs")
        found.submit = ""
        yield found
        return
    from tests.support.s3_server import S3
    from tests.support.server_jars import Unreachable

    try:
        running = S3()
    except Unreachable as reason:
        pytest.skip(f"{reason}; it runs where that can be reached")
    yield running
    running.stop()


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="three kills on each file system, in `make soak`; the test above resumes on HDFS")
def test_kills_lose_no_row_and_double_none_elsewhere(store: Store, tmp_path: Path) -> None:
    """Killed twice while rows are read, in a statement set with late rows and then in a stream of one table."""
    write_bids(tmp_path / "bids", 8, 300)
    script, metrics = tmp_path / "script.sql", tmp_path / "metrics"
    script.write_text(tables(tmp_path / "bids", f"{store.url}/killed") + INSERTS)
    metrics.touch()
    checkpoint = f"{store.url}/killed/checkpoint"

    def micro_batches() -> int:
        return len(metrics.read_text().splitlines())

    for more in (2, 3, 6):  # the third kill hits the second stream
        run = start(script, checkpoint, "--final", "--metrics", str(metrics), submit=store.submit)
        before = micro_batches()
        try:
            wait_for(lambda before=before, more=more: micro_batches() >= before + more, run)
        finally:
            kill(run)
    assert start(script, checkpoint, "--final", submit=store.submit).wait(PATIENCE) == 0

    everything = tables(tmp_path / "bids", f"{store.url}/killed") + EARLY
    kept = "SELECT * FROM few; SELECT * FROM many; SELECT * FROM minutes; SELECT item FROM late;"
    made = f"SELECT * FROM ({OF_EARLY[0]}) WHERE bids < 25; SELECT * FROM ({OF_EARLY[0]}) WHERE bids >= 25;"
    made += f"SELECT * FROM ({OF_EARLY[1]}); SELECT 'late' AS item;"
    found, expected = (
        Counter(printed(tmp_path / "reading.sql", everything + text, store.submit)) for text in (kept, made)
    )
    assert found == expected and len(found) > 100


def printed(script: Path, text: str, submit: str) -> list[str]:
    """What `tvfsql run` prints, as lines of CSV."""
    script.write_text(text)
    command = [sys.executable, "-m", "tvfsql", "run", "--format", "csv", str(script)]
    done = subprocess.run(command, env=environment(submit), capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_files_on_hdfs_are_read_by_name(spark: SparkSession, hdfs: Hdfs) -> None:
    """Over two runs, though they have been written in another order."""
    folder = place_of(f"{hdfs.url}/by-name/in é", lambda: spark)
    folder.make(shared=True)
    options = "'format' = 'json', 'maxFilesPerTrigger' = '1', 'source.file-order' = 'name'"
    for minutes in ((2, 0, 1), (4, 3)):
        for minute in minutes:
            rows = ({"v": i, "ts": f"2020-01-01 00:{minute:02d}:{5 * i:02d}"} for i in range(10))
            (folder / f"{minute} +%41.json").write("".join(json.dumps(row) + "\n" for row in rows), shared=True)
        session = Session(spark, mode="streaming", checkpoint=f"{hdfs.url}/by-name/checkpoint")
        session.execute(
            "CREATE TABLE t (v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ("
            f"'connector' = 'filesystem', 'path' = '{folder}', {options})"
        )
        found = session.sql(
            "SELECT window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) "
            "GROUP BY window_start, window_end"
        ).collect()
        assert [row["n"] for row in found] == [10, 10]  # the last window stays open
        assert (session.counts["rowsIn"], session.counts["numLateRecordsDropped"]) == (10 * len(minutes), 0)
