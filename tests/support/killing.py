"""Streams in processes of their own, which tests kill."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.small_spark import environment

PATIENCE = 600  # seconds for anything at all to happen, on a busy machine


def commits(checkpoint: Path) -> int:
    """How many micro-batches have been committed."""
    return sum(1 for file in (checkpoint / "spark" / "commits").glob("*") if file.name.isdigit())


def start(script: Path, checkpoint: Path | str, *options: str, submit: str = "") -> subprocess.Popen[bytes]:
    """`tvfsql run` in a process of its own, with its own Spark, which gets the arguments `submit`."""
    command = [sys.executable, "-m", "tvfsql", "run", "--mode", "streaming", "--checkpoint", str(checkpoint)]
    return subprocess.Popen([*command, *options, str(script)], start_new_session=True, env=environment(submit))


def wait_for(seen: Callable[[], bool], run: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE
    while not seen():
        assert run.poll() is None, "it ended by itself"
        assert time.monotonic() < until, "it does not get on"
        time.sleep(0.02)


def kill(run: subprocess.Popen[bytes]) -> None:
    """SIGKILL for the process and all that it has started: Java, and Python's workers, which leave its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    listed = subprocess.run(["ps", "-A", "-o", "pid=,sess="], capture_output=True, text=True, check=True).stdout
    for pid, session in (line.split() for line in listed.splitlines()):
        if session == str(run.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
