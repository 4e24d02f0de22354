"""A line on stderr that shows what Spark is doing and for how long, and disappears at the end."""

from __future__ import annotations

import io
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

FRAMES = "|/-\\"
FIRST_AFTER = 0.3  # seconds; shorter work shows no line
EVERY = 0.2
ECHO = "^C"  # what a terminal prints after the line for Ctrl-C


class Line:
    """One line of a terminal. Text for `above` is printed in whole lines, and the line is shown again below it."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self._shown = 0
        self._lock = threading.Lock()

    def show(self, text: str) -> None:
        text = text[: shutil.get_terminal_size().columns - 1 - len(ECHO)]  # a wrapped line could not be erased
        with self._lock:
            self.out.write("\r" + text.ljust(self._shown))
            self.out.flush()
            self._shown = len(text)

    def erase(self) -> None:
        with self._lock:
            self._erase()

    def above(self, out: TextIO) -> TextIO:
        """A stream that writes to `out` above the line."""
        return _Above(self, out)

    def write_above(self, out: TextIO, text: str) -> None:
        with self._lock:
            self._erase()
            out.write(text)
            out.flush()

    def _erase(self) -> None:
        if self._shown:
            self.out.write("\r" + " " * (self._shown + len(ECHO)) + "\r")
            self.out.flush()
            self._shown = 0


class _Above(io.StringIO):
    def __init__(self, line: Line, out: TextIO) -> None:
        super().__init__()
        self.line, self.target, self.partial_line = line, out, ""

    def write(self, text: str) -> int:
        lines, end, rest = (self.partial_line + text).rpartition("\n")
        self.partial_line = rest
        if end:
            self.line.write_above(self.target, lines + end)
        return len(text)

    def flush(self) -> None:
        """Do nothing: whole lines are already written, and a partial one would be overwritten."""

    def close(self) -> None:
        if self.partial_line:
            self.line.write_above(self.target, self.partial_line)
        self.partial_line = ""


@contextmanager
def working(label: str, say: Callable[[], str | None] = lambda: None, *, out: TextIO | None = None) -> Iterator[Line]:
    """Show a status line while the block runs, if stderr is a terminal.

    It shows the text of `say`, or if that is None, `label`, the seconds so far and what Spark's stages have done. It is
    plain text without colours, and is erased at the end, also when the block raises. Inside the block, write to the
    terminal through the line's `above`.
    """
    line = Line(out if out is not None else sys.stderr)
    if not line.out.isatty():
        yield line
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(label, say, line, done), name="tvfsql-progress", daemon=True)
    thread.start()
    try:
        yield line
    finally:
        done.set()
        thread.join()


def _show(label: str, say: Callable[[], str | None], line: Line, done: threading.Event) -> None:
    start = time.monotonic()
    pause, turn, stages = FIRST_AFTER, 0, StagesText()
    while not done.wait(pause):
        frame = FRAMES[turn % len(FRAMES)]
        text = say()
        if not text:
            doing, now = label if _context() is not None else "starting Spark", time.monotonic()
            text = progress_text(doing, now - start, stages.text(_stages(), now))
        line.show(f"{frame} {text}")
        pause, turn = EVERY, turn + 1
    line.erase()


def progress_text(label: str, seconds: float, stages: str) -> str:
    """`running  4 s  3/8 tasks  1,203 rows`: the tasks and rows of the stages that run."""
    return f"{label}  {seconds:.0f} s  {stages}".rstrip()


def _stages() -> list[Stage]:
    """The running stages; empty while Spark starts and between stages."""
    context = _context()
    if context is None:
        return []
    try:
        return running_stages(context)
    except Exception:  # Spark is shutting down; the caller's block reports why
        return []


def _context() -> JavaObject:
    """The running SparkContext. None if there is none, or if it is starting or stopped."""
    core: Any = sys.modules.get("pyspark.core.context")  # the status line alone must not load pyspark
    context: JavaObject = getattr(core, "SparkContext", None) and core.SparkContext._active_spark_context
    return None if getattr(context, "_jsc", None) is None else context


# What Spark's running stages have done, and how long they may still take.


ENOUGH = 2  # finished tasks, for each that runs at once, from which the time of others is known
SHORT = 5.0  # seconds; less time left is not worth telling


@dataclass(frozen=True)
class Stage:
    """A stage that runs: Spark's number of it, its tasks, and the rows that they have read so far, from tables and from
    shuffles.
    """

    number: int
    tasks: int
    done: int
    running: int
    rows: int


def running_stages(context: JavaObject) -> list[Stage]:
    """The active stages of a SparkContext."""
    found = context._jsc.sc().statusStore().activeStages()
    stages = [found.apply(i) for i in range(found.size())]
    return [
        Stage(
            stage.stageId(),
            stage.numTasks(),
            stage.numCompleteTasks(),
            stage.numActiveTasks(),
            stage.inputRecords() + stage.shuffleReadRecords(),
        )
        for stage in stages
    ]


@dataclass
class StagesText:
    """Tells what stages have done. It remembers when their first tasks ended: these are slower than the others."""

    begun: dict[int, tuple[float, int]] = field(default_factory=dict)

    def text(self, stages: Sequence[Stage], now: float) -> str:
        """`30/200 tasks  1,203,400 rows  about 40 s left in this stage`; empty if none runs. `now` is in seconds."""
        left = [self._left(stage, now) for stage in stages]
        if not stages:
            return ""
        parts = [f"{sum(stage.done for stage in stages)}/{sum(stage.tasks for stage in stages)} tasks"]
        if len(stages) > 1:
            parts[0] += f" of {len(stages)} stages"
        if rows := sum(stage.rows for stage in stages):
            parts.append(f"{rows:,} rows")
        known = [each for each in left if each is not None]
        if len(known) == len(left) and (most := max(known)) >= SHORT:
            parts.append(f"about {_rounded(most)} left in {'this stage' if len(stages) == 1 else 'these stages'}")
        return "  ".join(parts)

    def _left(self, stage: Stage, now: float) -> float | None:
        """The seconds that a stage still takes if its other tasks are like those after the first ones. None if too few
        are done.
        """
        if not 0 < stage.running <= stage.done:
            return None
        since, before = self.begun.setdefault(stage.number, (now, stage.done))
        new = stage.done - before
        return (now - since) / new * (stage.tasks - stage.done) if new >= ENOUGH * stage.running else None


def _rounded(seconds: float) -> str:
    """A duration as rough as it is known: 5 s, 40 s, 12 min, 3 h."""
    if seconds < 95:
        return f"{round(seconds / 5) * 5} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"
