"""Control messages that are deleted: none that a source of the query has not read yet."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bids import create_table
from tvfsql import Session
from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.checkpoint import read_messages
from tvfsql.runtime.stream.checkpoint.read_messages import AT_ONCE, KEPT, ReadMessages
from tvfsql.runtime.stream.driver.running import Running
from tvfsql.runtime.stream.driver.stream import Stream
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT, advance, ended, messages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNION = """SELECT window_end, COUNT(*) AS n, SUM(n) AS total FROM TABLE(TUMBLE((
    SELECT ts, n FROM one UNION ALL SELECT ts, n FROM other
), DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY window_start, window_end"""
SECOND = 1000  # ms
WINDOWS = 12


class Query:
    """A query with two sources, each of which lists the folder at a moment of its own in each micro-batch."""

    def __init__(self, control: LocalPlace) -> None:
        self.control = control
        self.number = 0  # the micro-batch that is running
        self.read: tuple[set[str], set[str]] = (set(), set())
        self.lists = 0  # how many of them have listed the folder

    @property
    def lastProgress(self) -> dict[str, Any] | None:  # Spark's name
        return {"batchId": self.number - 1} if self.number else None

    def goes_on(self) -> None:
        """One of the steps of a micro-batch: each source lists, and it ends."""
        if self.lists < len(self.read):
            self.read[self.lists].update(messages(self.control))
            self.lists += 1
        else:
            self.number, self.lists = self.number + 1, 0


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kept", [2, 5, KEPT])
def test_every_source_reads_every_message_before_it_is_deleted(
    seed: int, kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages, steps of micro-batches and looks of the driver in any order: also between listing and asking Spark."""
    monkeypatch.setattr(read_messages, "KEPT", kept)
    draw, control = random.Random(f"{seed} {kept}"), LocalPlace(tmp_path)
    query, written = Query(control), 0
    advance(control, END_OF_INPUT)
    read = ReadMessages(control, ended(control))

    def names(folder: LocalPlace) -> list[str]:
        found = messages(folder)
        steps()
        return found

    def steps() -> None:
        for _ in range(draw.choice((0, 0, 1, 2, 7))):
            query.goes_on()

    monkeypatch.setattr(read_messages, "messages", names)
    most = 0
    for _ in range(6 * kept + 100):
        if draw.random() < 0.5:
            advance(control, draw.randrange(10**9))
            written += 1
        steps()
        seen = query.number - 1 if query.number else None
        steps()  # the driver has seen less than has happened
        read.look(query, seen)  # type: ignore[arg-type]
        most = max(most, len(messages(control)))
    while query.lists or not query.number:
        query.goes_on()
    for _ in range(2 * 3):
        query.goes_on()
    assert [len(each) for each in query.read] == [written + 1] * 2
    assert most < written
    assert len(ended(control)) == 1


def test_few_messages_are_deleted_in_one_look(tmp_path: Path) -> None:
    control = LocalPlace(tmp_path)
    query, read = Query(control), ReadMessages(control, ())
    for _ in range(3 * AT_ONCE):
        advance(control, 0)
    left = []
    for query.number in (KEPT - 1, KEPT, KEPT + 1, 2 * KEPT, *[2 * KEPT + 1] * 4, 2 * KEPT + 2):
        read.look(query, query.number - 1)  # type: ignore[arg-type]
        left.append(len(messages(control)))
    assert left == [30, 30, 30, 30, 20, 10, 0, 0, 0]


def test_a_message_that_someone_else_has_deleted_does_no_harm(tmp_path: Path) -> None:
    control = LocalPlace(tmp_path)
    query, read = Query(control), ReadMessages(control, ())
    advance(control, 0)
    advance(control, 1)
    query.number = KEPT + 1
    read.look(query, KEPT)  # type: ignore[arg-type]
    (control / messages(control)[0]).delete()
    query.number = 3 * KEPT
    read.look(query, 3 * KEPT - 1)  # type: ignore[arg-type]
    assert messages(control) == []


def test_a_folder_that_cannot_be_listed_for_a_while_stops_no_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    control = LocalPlace(tmp_path)
    query, read = Query(control), ReadMessages(control, ())
    advance(control, 0)

    def fails(folder: LocalPlace) -> list[str]:
        raise DataError(f"{folder} cannot be read")

    for number, listed in ((KEPT, fails), (2 * KEPT, messages), (3 * KEPT, messages)):
        monkeypatch.setattr(read_messages, "messages", listed)
        assert len(messages(control)) == 1
        query.number = number + 1
        read.look(query, number)  # type: ignore[arg-type]
    assert messages(control) == []


@pytest.mark.spark
def test_a_stream_whose_messages_are_deleted_resumes(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A union of two folders, whose watermarks move by hand only. It is stopped twice."""
    monkeypatch.setattr(read_messages, "KEPT", 2)
    draw = random.Random(7)
    session = Session(spark, mode="streaming")
    columns = "ts TIMESTAMP(3), n INT, WATERMARK FOR ts AS ts - INTERVAL '1' HOUR"
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        create_table(session, name, columns, tmp_path / name)
    compiled = session.sql(UNION).query
    found: list[Any] = []
    expected = Counter[int]()

    def build() -> Any:
        return compiled.dataframe(spark).writeStream.foreachBatch(lambda batch, _: found.extend(batch.collect()))

    control = LocalPlace(tmp_path / "checkpoint" / "control")
    said, left = 0, []
    for run in range(3):
        running = Running(spark, [Stream(build, LocalPlace(tmp_path / "checkpoint"), endless=True)])
        (query,) = running.started()
        for window in range(run * WINDOWS, (run + 1) * WINDOWS):
            for name in ("one", "other"):
                rows = [(window * SECOND + draw.randrange(SECOND), draw.randrange(100)) for _ in range(5)]
                lines = [json.dumps({"ts": f"1970-01-01 00:00:{at / 1000:06.3f}", "n": n}) for at, n in rows]
                draft = tmp_path / name / f"_{window}.json"
                draft.write_text("\n".join(lines))
                draft.rename(tmp_path / name / f"{window}.json")
                expected[window] += sum(n for _, n in rows)
            query.processAllAvailable()
            for name in ("one", "other"):
                advance(control, (window + 1) * SECOND - 1, name)
                said += 1
            query.processAllAvailable()
        running.stop()
        left.append(len(messages(control)))
    assert {int(row.window_end.timestamp()) % 86_400: (row.n, row.total) for row in found} == {
        window + 1: (10, total) for window, total in expected.items()
    }
    assert len(found) == 3 * WINDOWS
    assert said > 3 * max(left), (said, left)
