"""A start of Spark that is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from killing import PATIENCE, wait_for
from small_spark import environment


@pytest.mark.spark
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_start_that_is_interrupted_leaves_no_java(tmp_path: Path) -> None:
    """While Java starts, before it has told Python its port: Java would outlive Python, and print a stack trace."""
    mark = f"interrupted-{os.getpid()}"
    given = {**environment(), "PYSPARK_SUBMIT_ARGS": f"--conf spark.app.name={mark} pyspark-shell"}
    with (tmp_path / "stderr").open("wb") as stderr:
        run = subprocess.Popen(
            [sys.executable, "-m", "tvfsql", "run", "-e", "SELECT 1 AS x"], env=given, stderr=stderr, cwd=tmp_path
        )
        wait_for(lambda: bool(javas(mark)), run)
        run.send_signal(signal.SIGTERM)
        assert run.wait(PATIENCE) == 130
    time.sleep(1)
    assert javas(mark) == []
    assert "Exception" not in (tmp_path / "stderr").read_text()


def javas(mark: str) -> list[str]:
    """The commands of Java processes with a text in them."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # it has ended
            continue
        if "java" in command and mark in command:
            found.append(command)
    return found
