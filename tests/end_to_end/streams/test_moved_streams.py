"""Streams whose checkpoint is moved, between runs and while they run. Source:
docs/streams.md#what-a-checkpoint-belongs-to.
"""

from __future__ import annotations

import io
import json
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tvfsql import Session
from tvfsql.api.streams.state import rescale_streams
from tvfsql.errors import DataError, UnsupportedError
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.inspect.checkpoint import stream_state

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tvfsql.api.result import Result

pytestmark = pytest.mark.spark

FILES, ROWS, PATIENCE = 6, 10, 240  # a window has the rows of a file; seconds
ROUNDS = ((0, 1), (2,), (3, 4), (5,))  # the files of each run
Windows = Counter[tuple[str, int]]
EXPECTED: Windows = Counter({(f"2020-04-15T08:{file + 1:02d}:00.000Z"[:16], ROWS): 1 for file in range(FILES)})


def write(folder: Path, file: int) -> None:
    folder.mkdir(exist_ok=True)
    rows = [{"ts": f"2020-04-15 08:{file:02d}:{second:02d}", "n": 1} for second in range(ROWS)]
    draft = folder / f".{file}"
    draft.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    draft.rename(folder / f"{file}.json")


def counting(spark: SparkSession, folder: Path, checkpoint: Path, *, endless: bool, final: bool = False) -> Result:
    """Start the stream that counts the rows of each minute, and wait for it unless it is endless."""
    session = Session(spark, mode="streaming", checkpoint=checkpoint, final=final)
    more = ", 'source.monitor-interval' = '100 ms'" if endless else ""
    files = "'connector' = 'filesystem', 'format' = 'json'"
    session.execute(
        "CREATE TABLE t (ts TIMESTAMP(3), n INT, WATERMARK FOR ts AS ts) "
        f"WITH ({files}, 'path' = '{folder / 'in'}', 'maxFilesPerTrigger' = '1'{more});"
        f"CREATE TABLE out (ends TIMESTAMP(3), n BIGINT) WITH ({files}, 'path' = '{folder / 'out'}')"
    )
    window = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end"
    return session.sql(f"INSERT INTO out SELECT window_end, COUNT(*) FROM {window}")


def written(spark: SparkSession, folder: Path) -> Windows:
    """What readers of the table see."""
    rows = spark.read.schema("ends STRING, n BIGINT").json(str(folder / "out")).collect() if folder.exists() else []
    return Counter((row.ends[:16], row.n) for row in rows)


def test_a_checkpoint_that_was_moved_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    """Also in the middle of a micro-batch, whose end is taken away as a kill would have done, and into a rescale."""
    place = tmp_path / "first"
    for number, files in enumerate(ROUNDS):
        for file in files:
            write(tmp_path / "in", file)
        counting(spark, tmp_path, place, endless=False, final=files == ROUNDS[-1])
        if number < 2:  # the second time a message of the driver is in that micro-batch
            commits = place / "1" / "spark" / "commits"
            last = max((path for path in commits.iterdir() if path.name.isdigit()), key=lambda path: int(path.name))
            for path in (last, last.with_name(f".{last.name}.crc")):
                path.unlink(missing_ok=True)
        place = place.rename(tmp_path / f"after {number}")
        if number == 2:
            with pytest.raises(DataError, match="was moved or copied, but Spark looks for its state in"):
                stream_state(spark, LocalPlace(place / "1"))
            with pytest.raises(UnsupportedError, match="because of ' ' in its path"):
                rescale_streams(lambda: spark, str(place), 2, 2, io.StringIO())
            assert stream_state(spark, LocalPlace(place / "1")).operators
            place = place.rename(tmp_path / "rescaled")
            rescale_streams(lambda: spark, str(place), 2, 2, io.StringIO())
            place = place.rename(tmp_path / "last")
    assert written(spark, tmp_path) == EXPECTED


def test_a_checkpoint_that_is_moved_under_a_running_stream(spark: SparkSession, tmp_path: Path) -> None:
    """The stream stops, and says why. At the new place it goes on, with all that it has written in between."""
    old, new = tmp_path / "old", tmp_path / "new"
    write(tmp_path / "in", 0)
    write(tmp_path / "in", 1)
    running = counting(spark, tmp_path, old, endless=True)
    query = running.start()
    until(lambda: bool(written(spark, tmp_path)))
    (old / "1").rename(new)
    for file in range(2, FILES):  # Spark goes on for a moment
        write(tmp_path / "in", file)
        time.sleep(0.1)
    until(lambda: not query.isActive)
    with pytest.raises(DataError, match="old/1 is not there any more: it was moved or deleted") as told:
        running.stop()
    assert "new place" in str(told.value.hint)
    left = files_of_spark(old)
    if left:  # Spark may also have made an empty folder
        with pytest.raises(DataError, match="not a whole checkpoint"):
            counting(spark, tmp_path, old, endless=True)
    (tmp_path / "again").mkdir()
    new.rename(tmp_path / "again" / "1")
    counting(spark, tmp_path, tmp_path / "again", endless=False, final=True)
    assert written(spark, tmp_path) == EXPECTED, left
    assert not files_of_spark(old)


def files_of_spark(checkpoint: Path) -> list[Path]:
    return [path for path in (checkpoint / "1" / "spark").rglob("*") if path.is_file()]


def until(done: object) -> None:
    """Wait for something."""
    last = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < last, "nothing happens"
        time.sleep(0.05)
