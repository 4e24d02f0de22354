"""Rows that Spark counts twice in a micro-batch, because it repeated tasks after it had lost an executor.

Spark adds up what all attempts of a task have read. Its status store knows the tasks one by one. Source:
docs/streams.md#metrics.
"""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from tvfsql.runtime.cluster.asked import is_local
from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.stream.progress.counts import Progress, is_own
from tvfsql.runtime.stream.progress.files_read import own_files

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

PATIENCE = 5.0  # seconds until Spark's status store has heard that a job has ended
ALL = 2**31 - 1  # tasks
MOST_STAGES = 12  # that read rows, in a micro-batch; all sets of them are tried


@dataclass(frozen=True)
class Task:
    """A task that succeeded: its stage, its partition, and the rows that it read, but for those of a shuffle."""

    stage: int
    partition: int
    rows: int


@dataclass(frozen=True)
class RepeatedTasks:
    """The repeated tasks of the query with the id `run`, which is the group of its jobs. `store` and `tracker`: the
    status of Spark's jobs (of Java)."""

    spark: SparkSession
    run: str
    store: JavaObject
    tracker: JavaObject

    def rows_again(self, progress: Progress, checkpoint: Place, control: Place) -> int:
        """How many rows of tables were counted again in a micro-batch, by its progress report."""
        if not (tasks := self._tasks(progress["batchId"])):
            return 0
        reported = own = 0
        for source in progress["sources"]:
            reported += source["numInputRows"]
            own += source["numInputRows"] if is_own(source["description"], control) else 0
        again = rows_again(tasks, reported)
        return again - (own - self._own_rows(progress, checkpoint, control)) if again and own else again

    def _own_rows(self, progress: Progress, checkpoint: Place, control: Place) -> int:
        """The rows that a micro-batch read from the checkpoint: a control file has one, a history has any number."""
        messages, history = own_files(progress, checkpoint, control)
        return len(messages) + (self.spark.read.parquet(*history).count() if history else 0)

    def _tasks(self, micro_batch: int) -> list[Task]:
        """The tasks of a micro-batch, if some of them succeeded twice; otherwise none."""
        jobs = [*self._jobs(micro_batch)]
        if not any(job.numCompletedTasks() > job.numCompletedIndices() for job in jobs):
            return []
        stages = {stage for job in jobs for stage in _each(job.stageIds())}
        return [task for stage in sorted(stages) for task in self._succeeded(stage)]

    def _jobs(self, micro_batch: int) -> Iterator[JavaObject]:
        for number in sorted(self.tracker.getJobIdsForGroup(self.run), reverse=True):
            of = _micro_batch(self.store.job(number))
            if of < micro_batch:
                return
            if of == micro_batch:
                yield self._ended(number)

    def _ended(self, number: int) -> JavaObject:
        """A job of a micro-batch that has ended, once the store knows its end."""
        until = time.monotonic() + PATIENCE
        while (job := self.store.job(number)).status().name() == "RUNNING" and time.monotonic() < until:
            time.sleep(0.01)
        return job

    def _succeeded(self, stage: int) -> Iterator[Task]:
        attempt = 0
        while (tasks := self.store.taskList(stage, attempt, ALL)).size():
            for task in _each(tasks):
                if task.status() == "SUCCESS":
                    yield Task(stage, task.index(), task.taskMetrics().get().inputMetrics().recordsRead())
            attempt += 1


def repeated_tasks(spark: SparkSession, run: str) -> RepeatedTasks | None:
    """None if Spark runs in one process, where it repeats no task, and over Spark Connect, where the status of tasks is
    out of reach."""
    if of_connect(spark) or is_local(spark.sparkContext.master or ""):
        return None
    context: JavaObject = spark.sparkContext._jsc.sc()
    return RepeatedTasks(spark, run, context.statusStore(), context.statusTracker())


def rows_again(tasks: Iterable[Task], reported: int) -> int:
    """How many of the `reported` rows were read by repetitions of tasks.

    Stages may also read other rows: those of a table that the query looks up, or of a cache. So the stages that read
    the stream are those that have read as many rows as reported. 0 if no stages have, or if different ones would do.
    """
    once: dict[int, dict[int, int]] = defaultdict(dict)
    every: Counter[int] = Counter()
    for task in tasks:
        if task.rows:
            once[task.stage][task.partition] = task.rows
            every[task.stage] += task.rows
    if len(once) > MOST_STAGES:
        return 0
    some = chain.from_iterable(combinations(once, size) for size in range(len(once) + 1))
    found = {
        reported - sum(rows for stage in stages for rows in once[stage].values())
        for stages in some
        if sum(every[stage] for stage in stages) == reported
    }
    return found.pop() if len(found) == 1 else 0


def _micro_batch(job: JavaObject) -> int:
    """The number of the micro-batch of which Spark's description of a job tells."""
    text = job.description()
    found = re.search(r"\bbatch = (\d+)$", text.get()) if text.isDefined() else None
    return int(found[1]) if found else -1


def _each(found: JavaObject) -> Iterator[JavaObject]:
    return (found.apply(i) for i in range(found.size()))
