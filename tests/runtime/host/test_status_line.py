"""The status line: shown on a terminal, erased, silent elsewhere."""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from tvfsql.runtime.host.status_line import Line, Stage, StagesText, progress_text, running_stages, working

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE = 600  # seconds for anything at all to happen, on a busy machine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal_and_erased() -> None:
    out = Terminal()
    with pytest.raises(KeyError), working("starting Spark", out=out):
        until = time.monotonic() + PATIENCE
        while " starting Spark " not in out.getvalue() and time.monotonic() < until:
            time.sleep(0.05)
        raise KeyError
    assert re.search(r"\| starting Spark  \d+ s", out.getvalue())
    assert "\x1b" not in out.getvalue()
    assert out.getvalue().split("\r")[-2].strip() == out.getvalue().split("\r")[-1] == ""


def test_progress_is_silent_where_it_could_only_disturb() -> None:
    pipe, quick = io.StringIO(), Terminal()
    with working("running", out=pipe):
        time.sleep(0.4)
    with working("running", out=quick):
        pass
    assert pipe.getvalue() == quick.getvalue() == ""


def test_progress_tells_what_running_stages_have_done() -> None:
    assert progress_text("running", 61.7, StagesText().text([], 0)) == "running  62 s"
    first = StagesText().text([Stage(7, 8, 3, 2, 0)], 0)
    assert progress_text("running", 4.2, first) == "running  4 s  3/8 tasks"
    both = [Stage(7, 200, 30, 2, 1_203_400), Stage(8, 100, 50, 2, 600)]
    assert StagesText().text(both, 0) == "80/300 tasks of 2 stages  1,204,000 rows"


def test_time_left_is_told_only_where_it_is_known() -> None:
    def told(*stages: Stage, then: float) -> str:
        return texts.text(stages, then).partition("  about ")[2]

    texts = StagesText()
    assert told(Stage(7, 100, 0, 2, 0), then=10) == "", "no task is done"
    assert told(Stage(7, 100, 2, 2, 0), then=50) == "", "the first tasks say nothing of the others"
    assert told(Stage(7, 100, 5, 2, 0), then=56) == "", "too few others are done"
    assert told(Stage(7, 100, 6, 2, 0), then=58) == "3 min left in this stage"
    assert told(Stage(7, 100, 62, 2, 0), then=170) == "75 s left in this stage"
    assert told(Stage(7, 100, 99, 1, 0), then=244) == "", "it is over at once"
    assert told(Stage(7, 100, 62, 2, 0), Stage(8, 4, 1, 2, 0), then=170) == "", "of the other stage it is not known"


@pytest.mark.spark
def test_running_stages_are_those_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    go = str(tmp_path / "go")

    def wait(rows: Iterable[int]) -> Iterator[int]:
        until = time.monotonic() + PATIENCE
        while not os.path.exists(go) and time.monotonic() < until:
            time.sleep(0.05)
        yield from rows

    job = Thread(target=spark.sparkContext.parallelize(range(50), 5).mapPartitions(wait).count)
    job.start()
    try:
        until, found = time.monotonic() + PATIENCE, list[Stage]()
        while not (found and found[0].running) and time.monotonic() < until:
            found = running_stages(spark.sparkContext)
    finally:
        Path(go).touch()
        job.join()
    (stage,) = found
    assert (stage.tasks, stage.done) == (5, 0) and 1 <= stage.running <= 5
    assert running_stages(spark.sparkContext) == []


def test_rows_are_written_above_the_line_in_whole_lines() -> None:
    screen = io.StringIO()
    line = Line(screen)
    line.show("working")
    above = line.above(screen)
    above.write("a row")
    assert screen.getvalue() == "\rworking"
    above.write("\nanother")
    assert screen.getvalue() == "\rworking\r         \ra row\n"
    above.close()
    assert screen.getvalue().endswith("a row\nanother")
    with working("nothing", out=screen) as other:  # no terminal: nothing is shown
        other.above(screen).write("\n")
    assert screen.getvalue().endswith("another\n")
