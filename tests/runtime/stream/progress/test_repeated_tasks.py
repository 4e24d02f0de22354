"""Rows that Spark counts again because it repeated tasks. `tests/cluster` kills an executor."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.progress.files_read import own_files
from tvfsql.runtime.stream.progress.repeated_tasks import RepeatedTasks, Task, rows_again

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("tasks", "reported", "again"),
    [
        ([Task(1, 0, 600), Task(1, 1, 300)], 900, 0),
        ([Task(1, 0, 600), Task(1, 1, 300), Task(1, 1, 300)], 1200, 300),
        ([Task(1, 1, 300)] * 3 + [Task(2, 0, 0)] * 2, 900, 600),
        ([Task(1, 0, 5), Task(2, 0, 5)], 10, 0),  # the same partition of two stages
        ([Task(1, 0, 600), Task(1, 0, 600), Task(2, 0, 7), Task(2, 0, 7)], 1200, 600),  # 7 are of another table
        ([Task(1, 0, 6), Task(1, 0, 6), Task(2, 0, 9), Task(2, 1, 3)], 12, 0),  # which stage has read the 12?
        ([Task(1, 0, 6), Task(1, 0, 6), Task(2, 0, 9), Task(2, 1, 3)], 24, 6),
        ([Task(stage, 0, 6) for stage in range(13)] * 2, 156, 0),  # too many to tell
        ([], 10, 0),  # Spark keeps tasks for some time only
    ],
)
def test_a_partition_counts_once(tasks: list[Task], reported: int, again: int) -> None:
    assert rows_again(tasks, reported) == again


class Found(list):
    """A sequence of Scala."""

    def size(self) -> int:
        return len(self)

    def apply(self, i: int) -> object:
        return self[i]


def job(micro_batch: int, stages: list[int], completed: int, indices: int) -> SimpleNamespace:
    text = f"id = 1\nrunId = 2\nbatch = {micro_batch}"
    return SimpleNamespace(
        description=lambda: SimpleNamespace(isDefined=lambda: True, get=lambda: text),
        stageIds=lambda: Found(stages),
        numCompletedTasks=lambda: completed,
        numCompletedIndices=lambda: indices,
        status=lambda: SimpleNamespace(name=lambda: "SUCCEEDED"),
    )


def task(index: int, rows: int, status: str = "SUCCESS") -> SimpleNamespace:
    metrics = SimpleNamespace(inputMetrics=lambda: SimpleNamespace(recordsRead=lambda: rows))
    return SimpleNamespace(
        index=lambda: index, status=lambda: status, taskMetrics=lambda: SimpleNamespace(get=lambda: metrics)
    )


def test_tasks_of_all_attempts_and_only_of_the_micro_batch(tmp_path: Path) -> None:
    """Micro-batch 10 repeats a task in a second attempt of its stage, 11 in the same one, 1 none. Of 10, the control
    channel's row was read again, too."""
    place = LocalPlace(tmp_path)
    log = tmp_path / "spark" / "sources" / "1"
    log.mkdir(parents=True)
    file = {"path": "file:///c%20d/control/0.json", "timestamp": 1, "batchId": 3}
    (log / "3").write_text("v1\n" + json.dumps(file))
    jobs = {1: job(1, [0], 1, 1), 5: job(10, [3, 4], 5, 3), 6: job(11, [5], 3, 2)}
    tasks = {
        (0, 0): [task(0, 7)],
        (3, 0): [task(0, 100), task(1, 1), task(2, 0, "FAILED")],
        (3, 1): [task(0, 100), task(1, 1), task(2, 50)],
        (5, 0): [task(0, 20), task(0, 20), task(1, 2)],
    }
    tracker = SimpleNamespace(getJobIdsForGroup=lambda run: [*jobs])
    store = SimpleNamespace(job=jobs.get, taskList=lambda stage, attempt, _: Found(tasks.get((stage, attempt), [])))
    repeated = RepeatedTasks(cast("SparkSession", None), "2", store, tracker)

    def report(micro_batch: int, table: int, own: int) -> dict[str, object]:
        control = f"FileStreamSource[{place / 'control'}]"
        return {
            "batchId": micro_batch,
            "sources": [
                {"description": "KafkaV2[Subscribe[t]]", "numInputRows": table},
                {
                    "description": control,
                    "numInputRows": own,
                    "startOffset": {"logOffset": 2},
                    "endOffset": {"logOffset": 3 if own else 2},
                },
            ],
        }

    assert repeated.rows_again(report(10, 250, 2), place, place / "control") == 100
    assert repeated.rows_again(report(11, 42, 0), place, place / "control") == 20
    assert repeated.rows_again(report(1, 7, 0), place, place / "control") == 0
    assert own_files(report(10, 250, 2), place, place / "control") == (["file:///c d/control/0.json"], [])
