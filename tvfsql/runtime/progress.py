"""A line on stderr that says what Spark is working on and for how long, and then goes away."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

FRAMES = "|/-\\"
FIRST_AFTER = 0.3  # seconds; what is done by then needs no line
EVERY = 0.2


@contextmanager
def working(label: str, *, out: TextIO | None = None) -> Iterator[None]:
    """Show `label`, the seconds so far and Spark's tasks while the block runs, if stderr is a terminal.

    Plain text without colours; the line is erased at the end, also when the block raises. Nothing is to be
    written to the terminal within the block.
    """
    stream = out if out is not None else sys.stderr
    if not stream.isatty():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(label, stream, done), name="tvfsql-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _show(label: str, stream: TextIO, done: threading.Event) -> None:
    start = time.monotonic()
    shown, pause, turn = 0, FIRST_AFTER, 0
    while not done.wait(pause):
        line = progress_line(label, time.monotonic() - start, turn, _tasks())
        line = line[: shutil.get_terminal_size().columns - 1]  # a wrapped line could not be erased
        stream.write("\r" + line.ljust(shown))
        stream.flush()
        shown, pause, turn = len(line), EVERY, turn + 1
    if shown:
        stream.write("\r" + " " * shown + "\r")
        stream.flush()


def progress_line(label: str, seconds: float, turn: int, tasks: tuple[int, int] | None) -> str:
    """`/ running  4 s  3/8 tasks`; the tasks are those done and all of the stages that run now."""
    line = f"{FRAMES[turn % len(FRAMES)]} {label}  {seconds:.0f} s"
    return f"{line}  {tasks[0]}/{tasks[1]} tasks" if tasks else line


def _tasks() -> tuple[int, int] | None:
    """Tasks done and all tasks of the stages that run now; None before Spark is up or between stages."""
    core: Any = sys.modules.get("pyspark.core.context")  # to show progress is no reason to load pyspark
    context: Any = getattr(core, "SparkContext", None) and core.SparkContext._active_spark_context
    if getattr(context, "_jsc", None) is None:  # no Spark, or on its way up, or stopped
        return None
    try:
        tracker = context.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    except Exception:  # Spark is going down under us; the caller's block tells why
        return None
    running = [stage for stage in stages if stage is not None]
    if not running:
        return None
    return sum(stage.numCompletedTasks for stage in running), sum(stage.numTasks for stage in running)
