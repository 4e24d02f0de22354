"""What Spark's running stages have done, and how long they may still take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

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


def running_stages(context: Any) -> list[Stage]:
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
