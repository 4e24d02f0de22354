"""Over a Spark Connect server whose Python has no tvfsql, streams give the rows of batch, or are refused by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import golden_streams
from tests.support.connect import ConnectServer
from tests.support.examples import SOAK
from tests.support.golden import Case, cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    pytest.mark.skipif(sys.platform == "win32", reason="kills groups"),
]

SAMPLE = {
    "streaming:streaming/session",
    "streaming:streaming/statement_set",
    *(f"batch:streaming/{name}" for name in ("cascade", "cumulate_distinct", "deduplicate", "insert", "unnest")),
}
# a process of its own, because one with a Spark in it cannot have a session of a server
PROGRAM = """
import json, sys
from pathlib import Path
from tvfsql import Session, TvfSqlError

remote, folder = sys.argv[1:]
CREATE = '''
ALTER TABLE bids ADD WATERMARK FOR ts AS ts - INTERVAL '5' SECOND;
CREATE FUNCTION twice AS 'functions.twice' LANGUAGE PYTHON;
CREATE TABLE held (item STRING, n BIGINT);
CREATE TABLE totals (window_end TIMESTAMP(3), item STRING, n BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'totals', 'format' = 'parquet');
CREATE VIEW windows AS SELECT window_end, item, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, item;
'''
told = {}
with Session(remote=remote, mode="streaming", checkpoint=f"{folder}/checkpoint", final=True) as session:
    session.spark.sql('''CREATE TABLE bids USING parquet AS SELECT TIMESTAMP_NTZ'2024-01-01' + make_interval(
        0, 0, 0, 0, 0, 0, id) AS ts, concat('i', id % 3) AS item, id AS price FROM range(0, 300, 1, 2)''')
    session.execute(CREATE, file=f"{folder}/tables.sql")
    session.execute("INSERT INTO totals SELECT * FROM windows")
    told["counts"] = session.counts
    told["selected"] = sorted([row[0], row[1]] for row in session.sql("SELECT price, price FROM bids").collect())
    refused = (
        "INSERT INTO held SELECT item, n FROM windows",
        "SELECT twice(price) FROM bids",
    )
    for sql in refused:
        try:
            session.sql(sql).collect()
        except TvfSqlError as error:
            told[sql] = str(error)
    session.script.mode = "batch"
    told["batch"] = sorted(map(str, session.sql("SELECT * FROM windows").collect()))
    told["written"] = sorted(map(str, session.sql("SELECT * FROM totals").collect()))
# a SELECT that resumes: Spark's log of its files has a compaction in every second micro-batch
lines = f'''SET 'spark.sql.streaming.fileSink.log.compactInterval' = '2';
CREATE TABLE lines (n BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{folder}/lines', 'format' = 'json', 'maxFilesPerTrigger' = '1');'''
Path(folder, 'lines').mkdir()
told["resumed"] = []
for first in (0, 3):
    for n in range(first, first + 3):
        Path(folder, 'lines', f'{n}.json').write_text(json.dumps({'n': n}))
    with Session(remote=remote, mode="streaming", checkpoint=f"{folder}/resumed", final=True) as session:
        session.execute(lines)
        told["resumed"].append(sorted(row.n for row in session.sql("SELECT n FROM lines").collect()))
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectServer]:
    running = ConnectServer(tmp_path_factory.mktemp("server"))
    yield running
    running.stop()


def test_streams_give_the_rows_of_batch_or_are_refused_by_name(server: ConnectServer, tmp_path: Path) -> None:
    (tmp_path / "functions.py").write_text("def twice(n: int) -> int:\n    return 2 * n\n")
    command = [sys.executable, "-c", PROGRAM, server.remote, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["written"] == told["batch"]
    assert len(told["batch"]) == 15
    assert told["selected"] == [[price, price] for price in range(300)]
    assert told["resumed"] == [[0, 1, 2], [3, 4, 5]]
    assert (told["counts"]["rowsIn"], told["counts"]["rowsOut"], told["counts"]["stateRows"]) == (300, 15, 0)
    assert "over Spark Connect a stream fills one table" in told["INSERT INTO held SELECT item, n FROM windows"]
    assert "a stream with Python functions does not run over Spark Connect" in told["SELECT twice(price) FROM bids"]


@pytest.mark.soak
def test_golden_streams_give_the_rows_they_give_without_a_server(
    server: ConnectServer, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In both modes; those that fill several tables are refused as streams. `make test-connect` runs all of them, a
    normal run some.
    """
    streams = cases("streaming")
    runs = [f"streaming:{case}" for case in streams]
    runs += [f"batch:{case}" for case in streams if not golden_streams.STREAMS_ALONE.search(case.sql)]
    chosen = [run for run in runs if SOAK or run in SAMPLE]
    assert SOAK or {*chosen} == SAMPLE
    command = [sys.executable, "-m", golden_streams.__name__, server.remote, str(tmp_path / "there"), *chosen]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    there = json.loads(done.stdout.splitlines()[-1])
    rows = 0
    for run in chosen:
        mode, name = run.split(":")
        base = tmp_path / "here" / run.replace("/", "-").replace(":", "-")
        base.mkdir(parents=True)
        monkeypatch.chdir(base)
        here = golden_streams.told_by(Case(name), base, spark, batch=mode == "batch")
        for found, wanted in zip(there[run], here, strict=True):
            if isinstance(found, str):
                assert mode == "streaming" and "over Spark Connect" in found, run
            else:
                assert found == wanted, run
                rows += len(found)
    assert rows > 0
