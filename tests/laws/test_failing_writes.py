"""Each write fails, in a checkpoint, in the control channel and in the sink; then the run is repeated, and its rows are
right.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bids import BIDS, create_table, some_batches, write_files
from tests.support.examples import SOAK
from tests.support.failing_writes import failing, in_order_of_writing
from tvfsql import Session
from tvfsql.errors import TvfSqlError
from tvfsql.runtime.cluster.files import LOG, LocalPlace
from tvfsql.runtime.stream.checkpoint.owner import owned
from tvfsql.runtime.stream.checkpoint.parallelism import keep_key_groups, kept_key_groups
from tvfsql.runtime.stream.checkpoint.read_messages import forget
from tvfsql.runtime.stream.checkpoint.sink_log import complete_log
from tvfsql.runtime.stream.driver.checkpoints import claim
from tvfsql.runtime.stream.driver.identity import identify
from tvfsql.runtime.stream.driver.running import StreamDriver
from tvfsql.runtime.stream.lives.end_of_input import Closed
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT, idle, messages, trigger
from tvfsql.runtime.stream.time.valve import ENDED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = "print('a stream')\n"
LAST = 25  # the last micro-batch of the stream
CLOSING = [("a", ENDED), (None, END_OF_INPUT)]


def no_spark() -> Any:
    raise AssertionError("Spark is not needed")


def run_of_a_driver(folder: LocalPlace) -> None:
    """What a run writes into a checkpoint, without a query."""
    with owned(folder):
        claim(folder, PROGRAM)
        identify(folder, no_spark)
        if kept_key_groups(folder, None) is None:
            keep_key_groups(folder, 4)
        control = folder / "control"
        control.make()
        trigger(control)
        idle(control, "b")
        complete_log(folder / LOG, LAST, 10, begin=True)
        merged = [name for name in (folder / LOG).names() if name.endswith(".compact")]
        forget(folder / "log", LAST, ["there.json"])
        assert merged
        for name in messages(control)[:1]:
            (control / name).delete()
        driver: Any = SimpleNamespace(closed=Closed.of(folder))
        for channel, watermark in CLOSING:
            StreamDriver._announce(driver, channel, watermark, control)


def made(folder: Path) -> dict[str, Any]:
    """What a checkpoint says, without what differs from run to run, and what of it is not allowed."""
    told = [json.loads(file.read_text()) for file in (folder / "control").glob("*.json")]
    closing = {(message.get("$channel"), message["$control"]) for message in told} & {*CLOSING}
    closed = json.loads((folder / "closed.json").read_text()) if (folder / "closed.json").exists() else {}
    for channel, _ in closing:
        assert closed["all"] if channel is None else channel in closed["tables"], "operators know before the checkpoint"
    files = {str(file.relative_to(folder)): file for file in folder.rglob("*") if file.is_file()}
    drafts = [name for name in files if Path(name).name.startswith("_")]
    kept = {name: file.read_text() for name, file in files.items() if name.startswith((LOG, "log", "query", "para"))}
    return {"closing": closing, "closed": closed, "drafts": drafts, **kept}


def prepared(folder: Path) -> LocalPlace:
    """A checkpoint in which Spark has a merged entry of control messages that are gone."""
    (folder / "log").mkdir(parents=True)
    lines = [json.dumps({"path": f"{number}.json", "batchId": -200}) for number in range(50)]
    (folder / "log" / f"{LAST - 1}.compact").write_text("\n".join(["v1", *lines]))
    return LocalPlace(folder)


@pytest.mark.parametrize("for_good", [False, True], ids=["once", "from then on"])
def test_every_write_of_a_checkpoint_may_fail(tmp_path: Path, for_good: bool) -> None:
    with failing() as calm:
        run_of_a_driver(prepared(tmp_path / "calm"))
    expected = made(tmp_path / "calm")
    assert len(expected["closing"]) == 2 and not expected["drafts"]
    assert {*calm.made} >= {"open", "write", "fsync", "replace", "delete", "make", "ftruncate"}
    for number in range(1, len(calm.made) + 1):
        folder = tmp_path / str(number)
        place = prepared(folder)
        with failing(number, for_good=for_good) as writes, suppress(OSError, TvfSqlError):
            run_of_a_driver(place)
        assert len(writes.made) >= number
        if (folder / "control").exists():
            assert not made(folder)["drafts"] or for_good, calm.made[number - 1]
        run_of_a_driver(place)
        found = made(folder)
        assert {**found, "drafts": []} == expected, (number, calm.made[number - 1])


# ---- with Spark

FILES = 3
TOTALS = """SELECT window_end, item, COUNT(*) AS n, SUM(n) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, item"""
OUT = "ends TIMESTAMP(3), item STRING, n BIGINT, total BIGINT"
SINKS = {
    "files": f"CREATE TABLE o ({OUT}) WITH ('connector' = 'filesystem', 'path' = '{{0}}/out', 'format' = 'json')",
    "managed": f"SET 'tvfsql.warehouse' = '{{0}}/out'; CREATE TABLE o ({OUT})",
    "printed": "",
}


class Stream:
    """A stream over a folder of files into a sink."""

    def __init__(self, spark: SparkSession, folder: Path, sink: str) -> None:
        self.spark, self.folder, self.sink = spark, folder, sink
        self.printed: set[Any] = set()
        folder.mkdir(parents=True, exist_ok=True)
        write_files(folder / "in", some_batches(seed=1, disorder=3, batches=FILES, rows=25))

    def run(self) -> None:
        session = Session(self.spark, mode="streaming", checkpoint=self.folder / "checkpoint", final=True)
        create_table(session, "bid", BIDS.format(delay=3), self.folder / "in")
        if self.sink == "printed":
            query = session.sql(TOTALS).query
            session.each_batch(query, lambda batch: self.printed.update(map(tuple, batch.collect())))
            return
        session.execute(SINKS[self.sink].format(self.folder))
        session.execute(f"INSERT INTO o {TOTALS}")

    def rows(self) -> Counter[Any]:
        """The rows of the sink. What is printed may be printed again."""
        if self.sink == "printed":
            return Counter(self.printed)
        session = Session(self.spark)
        session.execute(SINKS[self.sink].format(self.folder))
        return Counter(map(tuple, session.sql("SELECT * FROM o").collect()))


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.parametrize("sink", SINKS)
def test_a_run_is_repeated_after_any_write_of_ours_fails(spark: SparkSession, tmp_path: Path, sink: str) -> None:
    calm = Stream(spark, tmp_path / "calm", sink)
    with failing() as writes:
        calm.run()
    expected = calm.rows()
    assert sum(row[2] for row in expected) == FILES * 25
    count = len(writes.made)
    failed = 0
    for number in range(1, count + 1) if SOAK else (count // 3, count - 4):
        stream = Stream(spark, tmp_path / str(number), sink)
        with failing(number):
            try:
                stream.run()
            except (TvfSqlError, OSError):
                failed += 1
        stream.run()
        assert stream.rows() == expected, (number, writes.made[number - 1])
    assert failed


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.parametrize("sink", ["files", "managed"])
def test_a_run_is_repeated_after_any_write_of_sparks_was_its_last(
    spark: SparkSession, tmp_path: Path, sink: str
) -> None:
    """Spark's own writes cannot be made to fail from Python. What a failure leaves is what was written before it: the
    first files of checkpoint and sink, for any number of them."""
    stream = Stream(spark, tmp_path / "stream", sink)
    stream.run()
    expected = stream.rows()
    folders = [stream.folder / name for name in ("checkpoint", "out")]
    order = in_order_of_writing(*folders)
    for folder in folders:
        shutil.copytree(folder, tmp_path / "saved" / folder.name)
    restored = partial(_restored, tmp_path / "saved", folders)
    for number in range(1, len(order)) if SOAK else (len(order) // 2, len(order) - 3):
        restored()
        for path in order[number:]:
            path.unlink(missing_ok=True)
        stream.run()
        assert stream.rows() == expected, (number, order[number - 1 : number + 1])


def _restored(saved: Path, folders: list[Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder)
        shutil.copytree(saved / folder.name, folder)
