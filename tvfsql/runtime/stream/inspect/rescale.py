"""Moves the key groups of a stopped stream to another number of Spark's state partitions, and so of tasks.

Spark rewrites the state as one more micro-batch, which reads no rows. Source: docs/streams.md#rescale.
"""

from __future__ import annotations

import json

from pyspark.sql import SparkSession

from tvfsql.errors import DataError, OptionError
from tvfsql.runtime.cluster.files import Place, for_spark
from tvfsql.runtime.stream.driver.checkpoints import manifest_in
from tvfsql.runtime.stream.inspect.checkpoint import finished
from tvfsql.runtime.stream.progress.metrics import without_gap

PARTITIONS = "spark.sql.shuffle.partitions"


def tasks_of(stream: Place) -> int | None:
    """How many tasks share the state of a stream; None if it keeps no state, or no micro-batch has finished."""
    last = finished(stream)
    if last is None or not (stream / "spark" / "state").exists():
        return None
    text = (stream / "spark" / "offsets" / str(last)).read() or ""
    try:
        return int(json.loads(text.splitlines()[1])["conf"][PARTITIONS])
    except (IndexError, ValueError, KeyError, TypeError) as error:
        reason = f"the checkpoint {stream} is damaged: micro-batch {last} does not tell its partitions"
        raise DataError(reason, hint="restore the folder spark/offsets") from error


def refuse_idle_tasks(stream: Place, tasks: int) -> None:
    """Raise OptionError if some tasks would have no key group."""
    manifest = manifest_in(stream)
    if manifest is None:
        return  # an older release, or a compiled program
    told = ((state.settings or {}).get("pipeline.max-parallelism") for state in manifest.operators)
    groups = max((int(number) for number in told if number), default=0)
    if tasks > groups > 0:
        reason = f"stream {stream.name} has {groups} key groups, so {tasks - groups} of {tasks} tasks would be idle"
        raise OptionError(reason, hint=f"--tasks {groups}")


def rescale(spark: SparkSession, stream: Place, tasks: int) -> None:
    """Divide the state of a stopped stream among `tasks` tasks. Raises DataError if Spark cannot do it."""
    last = finished(stream)
    assert last is not None, stream
    try:
        spark._streamingCheckpointManager.repartition(for_spark(stream.resolved() / "spark"), tasks)
    except Exception as error:  # of Java, or of pyspark
        cause = getattr(error, "java_exception", None)
        reason = str(cause.toString() if cause is not None else error).partition("\n")[0]
        raise DataError(
            f"Spark cannot rescale stream {stream.name}: {reason}",
            hint=f"finish the last micro-batch with the script, then tvfsql rescale ... --tasks {tasks} again",
        ) from error
    without_gap(stream, last + 1)
