"""A start of Spark that is interrupted, or that was not needed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from tests.support.killing import PATIENCE, wait_for
from tests.support.small_spark import environment
from tvfsql.api.own_spark import Needs, OwnSpark
from tvfsql.runtime.local_spark import start
from tvfsql.runtime.local_spark.early import start_early


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
        # Python 3.11 ends itself by SIGINT, which shells show as 130 too, if the signal came while it made a dataclass
        assert run.wait(PATIENCE) in (130, -signal.SIGINT)
    time.sleep(1)
    assert javas(mark) == []
    assert "Exception" not in (tmp_path / "stderr").read_text()


@pytest.mark.spark
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_an_error_in_the_script_does_not_wait_for_the_java_that_starts_meanwhile(tmp_path: Path) -> None:
    mark = f"useless-{os.getpid()}"
    given = {**environment(), "PYSPARK_SUBMIT_ARGS": f"--conf spark.app.name={mark} pyspark-shell"}
    command = [sys.executable, "-m", "tvfsql", "run", "-e", "SELECT a FROM nowhere"]
    run = subprocess.run(command, env=given, capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 1 and run.stderr.startswith("error: there is no table nowhere"), run.stderr
    until = time.monotonic() + PATIENCE
    while javas(mark) and time.monotonic() < until:
        time.sleep(0.1)
    assert javas(mark) == []


@pytest.mark.parametrize("text", ["SET 'spark.sql.ansi.enabled' = 'false'", "WITH ('connector' = 'kafka')"])
def test_a_script_that_may_need_more_than_a_plain_spark_starts_none_early(text: str) -> None:
    assert start_early([("SELECT 1", Path()), (text, Path())]) is None


def test_a_cluster_is_not_started_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_MASTER", "spark://elsewhere:7077")
    assert start_early([("SELECT 1", Path())]) is None


@dataclass
class Started:
    """An early start that has come up."""

    spark: Any = "early"

    def take(self) -> Any:
        return self.spark


@pytest.mark.parametrize(("packages", "ended"), [(frozenset[str](), []), (frozenset({"spark-avro_2.13"}), ["early"])])
def test_a_spark_that_started_early_is_stopped_if_it_lacks_a_package(
    packages: frozenset[str], ended: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[Any] = []
    monkeypatch.setattr(start, "end_java", stopped.append)
    monkeypatch.setattr(start, "is_running", lambda: True)
    monkeypatch.setattr(start, "start_spark", lambda packages, settings: packages)
    own = OwnSpark(lambda: Needs(packages), early=cast("Any", Started()))
    own._start()
    assert stopped == ended and own.spark == packages


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
