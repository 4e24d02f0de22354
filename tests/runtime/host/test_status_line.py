"""The status line: shown on a terminal, erased, silent elsewhere."""

from __future__ import annotations

import io
import re
import time

import pytest

from tvfsql.runtime.host.status_line import progress_text, working

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


def test_progress_tells_the_tasks_once_there_are_some() -> None:
    assert progress_text("running", 4.2, (3, 8)) == "running  4 s  3/8 tasks"
    assert progress_text("running", 61.7, None) == "running  62 s"
