"""On a standalone cluster whose workers' Python has no tvfsql the rows are those of this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.standalone import Cluster
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.cluster, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]

TABLES = """
CREATE TABLE bid (ts TIMESTAMP(3), item STRING, price BIGINT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json');
CREATE FUNCTION twice AS 'cluster_functions.twice' LANGUAGE PYTHON;
"""
INSERT = """
SET 'execution.runtime-mode' = '{mode}';
CREATE TABLE {out} (window_start TIMESTAMP(3), window_end TIMESTAMP(3), item STRING, n BIGINT, s BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{out}', 'format' = 'json');
INSERT INTO {out} SELECT window_start, window_end, item, COUNT(DISTINCT price), SUM(twice(price))
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '3' MINUTE))
GROUP BY window_start, window_end, item;
"""
FUNCTION = "def twice(n: int) -> int:\n    return 2 * n\n"
# the same, but its first call does not end before an executor has been killed
WAITING = """
import time
from pathlib import Path

FOLDER = Path({folder!r})

def twice(n: int) -> int:
    (FOLDER / "called").touch()
    until = time.monotonic() + 120
    while not (FOLDER / "killed").exists() and time.monotonic() < until:
        time.sleep(0.05)
    return 2 * n
"""
# the same, but the call for one row waits. Each executor has a file, which is as old as its last call
WAITING_ONCE = """
import os
import time
from pathlib import Path

FOLDER, LAST = Path({folder!r}), 1000

def twice(n: int) -> int:
    executor = Path(f"/proc/{{os.getppid()}}/stat").read_text().split()[3]
    (FOLDER / "calls" / executor).touch()
    until = time.monotonic() + 120
    while n == LAST and not (FOLDER / "killed").exists() and time.monotonic() < until:
        (FOLDER / "calls" / executor).touch()
        time.sleep(0.05)
    return 2 * n
"""
KEPT = ("--final", "--checkpoint", "checkpoint")
SCRIPTS = ("tables.sql", "batch.sql", "streaming.sql")
START = datetime(2024, 1, 1)
DONE = 5  # seconds without a call, after which a task has ended
PATIENCE = 300  # seconds for a stream of a few rows, on a busy machine


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    yield running
    running.stop()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "cluster_functions.py").write_text(FUNCTION)
    (tmp_path / "tables.sql").write_text(TABLES)
    for mode in ("batch", "streaming"):
        (tmp_path / f"{mode}.sql").write_text(INSERT.format(mode=mode, out=mode))
    rows = [(START + timedelta(seconds=i), "abc"[i % 7 % 3], i * i % 11) for i in range(900)]
    for i in range(3):
        lines = (json.dumps({"ts": str(ts), "item": item, "price": price}) for ts, item, price in rows[i::3])
        (tmp_path / "in" / f"{i}.json").write_text("\n".join(lines))
    return tmp_path


def expected(spark: SparkSession, folder: Path) -> Counter[str]:
    """The rows of this machine, where the function waits for nobody."""
    (folder / "cluster_functions.py").write_text(FUNCTION)
    session = Session(spark, mode="batch")
    session.execute(TABLES + INSERT.format(mode="batch", out="here"), file=str(folder / "here.sql"))
    return written(folder / "here")


def written(folder: Path) -> Counter[str]:
    return Counter(line for file in folder.glob("part-*") for line in file.read_text().splitlines())


def tvfsql(folder: Path, *arguments: str) -> str:
    """What the command line says on stderr."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYSPARK")}
    command = [sys.executable, "-m", "tvfsql", *arguments]
    done = subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr


def started(cluster: Cluster, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYSPARK")}
    command = [sys.executable, "-m", "tvfsql", "run", *cluster.options, *arguments]
    return subprocess.Popen(command, cwd=folder, env=kept, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def kill_an_executor(cluster: Cluster, run: subprocess.Popen[str], sign: Path) -> None:
    """Kill one of two executors as soon as a run has written the file `sign`."""
    until = time.monotonic() + PATIENCE
    while not sign.exists() and run.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    executors = cluster.executors()
    assert run.poll() is None and len(executors) == 2, "it has ended before its executor was killed"
    os.kill(executors[0], signal.SIGKILL)


def test_batch_and_a_stream_with_a_function_write_the_rows_of_this_machine(
    cluster: Cluster, spark: SparkSession, folder: Path
) -> None:
    """The workers are sent tvfsql and the module of the function, and read the state of the stream from its folder."""
    told = tvfsql(folder, "run", *cluster.options, "--final", "--checkpoint", "checkpoint", *SCRIPTS)
    assert "rowsIn: 900" in told and "numLateRecordsDropped: 0" in told
    assert written(folder / "batch") == written(folder / "streaming") == expected(spark, folder)
    assert (folder / "checkpoint" / "1" / "spark" / "state").is_dir()


def test_batch_goes_on_when_an_executor_is_killed(cluster: Cluster, spark: SparkSession, folder: Path) -> None:
    """While it runs the function: with the rows of this machine."""
    (folder / "cluster_functions.py").write_text(WAITING.format(folder=str(folder)))
    batch = started(cluster, folder, *SCRIPTS[:2])
    kill_an_executor(cluster, batch, folder / "called")
    (folder / "killed").touch()
    told, _ = batch.communicate(timeout=PATIENCE)
    assert batch.returncode == 0, told
    assert written(folder / "batch") == expected(spark, folder)


def test_a_stream_goes_on_when_an_executor_is_killed(cluster: Cluster, spark: SparkSession, folder: Path) -> None:
    """Once its state has been written: with the rows of this machine, and every row counted once."""
    tables = TABLES.replace("'path' = 'in'", "'path' = 'in', 'maxFilesPerTrigger' = '1'")
    (folder / "tables.sql").write_text(tables.replace("'5' SECOND", "'1' HOUR"))  # files are read in any order
    for file in [*(folder / "in").iterdir()]:  # six micro-batches
        lines = file.read_text().splitlines()
        file.unlink()
        for part in range(2):
            (folder / "in" / f"{part}-{file.name}").write_text("\n".join(lines[part::2]))
    stream = started(cluster, folder, "--final", "--checkpoint", "checkpoint", *SCRIPTS[::2])
    kill_an_executor(cluster, stream, folder / "checkpoint" / "1" / "spark" / "commits" / "1")
    told, _ = stream.communicate(timeout=PATIENCE)
    assert stream.returncode == 0, told
    assert "rowsIn: 900" in told and "numLateRecordsDropped: 0" in told, told
    assert written(folder / "streaming") == expected(spark, folder)


def test_rows_that_are_read_again_count_once(cluster: Cluster, spark: SparkSession, folder: Path) -> None:
    """The executor that is killed has read a file, while the other one is reading: Spark reads that file again."""
    (folder / "cluster_functions.py").write_text(WAITING_ONCE.format(folder=str(folder)))
    file = folder / "in" / "2.json"
    file.write_text(file.read_text() + "\n" + json.dumps({"ts": str(START), "item": "a", "price": 1000}))
    for name in ("calls", "events"):
        (folder / name).mkdir()
    logged = {"enabled": "true", "dir": str(folder / "events"), "compress": "false", "rolling.enabled": "false"}
    settings = [f"--conf=spark.eventLog.{name}={value}" for name, value in logged.items()]
    a_task_per_file = "--conf=spark.sql.files.openCostInBytes=100000000"
    stream = started(cluster, folder, a_task_per_file, *settings, *KEPT, *SCRIPTS[::2])
    until = time.monotonic() + PATIENCE
    while len(calls := {int(file.name): file.stat().st_mtime for file in (folder / "calls").iterdir()}) < 2 or (
        max(calls.values()) - min(calls.values()) < DONE
    ):
        assert stream.poll() is None and time.monotonic() < until, "no executor waits for the other one"
        time.sleep(0.1)
    executors = set(cluster.executors())
    os.kill(min(calls, key=lambda executor: calls[executor]), signal.SIGKILL)
    while not set(cluster.executors()) - executors and time.monotonic() < until:
        time.sleep(0.1)
    time.sleep(1)  # until Spark knows which rows are lost
    (folder / "killed").touch()
    told, _ = stream.communicate(timeout=PATIENCE)
    assert stream.returncode == 0, told
    (log,) = (folder / "events").iterdir()
    assert '"Reason":"Resubmitted"' in log.read_text(), "no task was repeated"
    assert "rowsIn: 901" in told and "numLateRecordsDropped: 0" in told, told
    assert written(folder / "streaming") == expected(spark, folder)
