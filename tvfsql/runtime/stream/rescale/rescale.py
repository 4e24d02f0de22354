"""Divides the state of a stopped stream among other tasks and key groups: what `tvfsql rescale` does.

The state is written as one more micro-batch, which reads no rows. Source: docs/streams.md#rescale.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import SparkSession

from tvfsql.errors import DataError, OptionError, UnsupportedError
from tvfsql.plan.checkpoint.manifest import SPARK_GROUPS, Manifest
from tvfsql.runtime.cluster.code import of_connect, prepare
from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.host.failures import translated
from tvfsql.runtime.stream.checkpoint.moved import OTHER_IN_URIS
from tvfsql.runtime.stream.checkpoint.parallelism import TASKS, kept_key_groups
from tvfsql.runtime.stream.checkpoint.sink_log import complete_logs
from tvfsql.runtime.stream.checkpoint.unfinished_rescale import Rescale, settle
from tvfsql.runtime.stream.driver.checkpoints import finished, manifest_in
from tvfsql.runtime.stream.driver.identity import identify
from tvfsql.runtime.stream.exchange.key_groups import key_group_labels
from tvfsql.runtime.stream.inspect.checkpoint import Indexes, indexes
from tvfsql.runtime.stream.rescale.division import JOIN, OPERATORS, Division, is_divided
from tvfsql.runtime.stream.rescale.rewriter import rewrite
from tvfsql.runtime.stream.state.description import Description


@dataclass(frozen=True)
class Size:
    """How many tasks share the state of a stream, and into how many key groups it is divided; None: that is not known,
    because a program of an older release wrote the checkpoint."""

    tasks: int
    key_groups: int | None

    def __str__(self) -> str:
        groups = "" if self.key_groups is None else f" and {_counted(self.key_groups, 'key group')}"
        return f"{_counted(self.tasks, 'task')}{groups}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def size_of(stream: Place) -> Size | None:
    """The size of a stream; None if it keeps no state, or no micro-batch has finished."""
    last = finished(stream)
    if last is None or not (stream / "spark" / "state").exists():
        return None
    text = (stream / "spark" / "offsets" / str(last)).read() or ""
    try:
        tasks = int(json.loads(text.splitlines()[1])["conf"][TASKS])
    except (IndexError, ValueError, KeyError, TypeError) as error:
        reason = f"the checkpoint {stream} is damaged: micro-batch {last} does not tell its partitions"
        raise DataError(reason, hint="restore the folder spark/offsets") from error
    return Size(tasks, kept_key_groups(stream, manifest_in(stream)))


def wanted_size(stream: Place, size: Size, tasks: int | None, key_groups: int | None) -> Size:
    """The size after a rescale; None: as before. Raises OptionError if some tasks would have no key group, or the
    present number of key groups is not known, and UnsupportedError for groups in Spark's own aggregate, whose place is
    not that of a key group."""
    if key_groups is not None and size.key_groups is None:
        reason = f"the checkpoint of stream {stream.name} does not say how many key groups it has"
        raise OptionError(reason, hint="run the stream once with this release of tvfsql")
    wanted = Size(tasks or size.tasks, key_groups or size.key_groups)
    manifest = manifest_in(stream)
    if wanted != size and manifest and any(state.kind == SPARK_GROUPS for state in manifest.operators):
        raise UnsupportedError(
            f"the state of stream {stream.name} cannot be divided: its groups are in Spark's own aggregate",
            hint="SET 'tvfsql.rules.disabled' = 'aggregate_upserts_in_spark', and a new folder for the checkpoint",
        )
    idle = wanted.tasks - (wanted.key_groups or wanted.tasks)
    if idle > 0:
        reason = f"stream {stream.name} has {size.key_groups} key groups"
        if key_groups:
            reason = f"stream {stream.name} would have {key_groups} key groups"
        raise OptionError(
            f"{reason}, so {idle} of {wanted.tasks} tasks would be idle",
            hint=f"--tasks {wanted.tasks} --key-groups {wanted.tasks}",
        )
    return wanted


def rescale(spark: SparkSession, stream: Place, before: Size, after: Size) -> None:
    """Divide the state of a stopped stream. If it fails, or is interrupted, the next rescale or the next run takes back
    what was written: Spark's tasks may still write while this fails.

    Raises DataError if the checkpoint is damaged, is a copy beside its original, or its last micro-batch has not
    finished, and UnsupportedError for state that cannot be divided.
    """
    if of_connect(spark):
        raise UnsupportedError(
            "over Spark Connect a stream cannot be rescaled: its state is rewritten in Java",
            hint="--master URL of the cluster",
        )
    identify(stream, lambda: spark)  # if it was moved, its paths follow
    last = refuse_unready(stream)
    division = None
    if before.key_groups != after.key_groups:
        assert before.key_groups is not None and after.key_groups is not None, before
        division = _division(spark, stream, before.key_groups, after.key_groups)
    prepare(spark)
    planned = Rescale(last + 1, after.tasks, after.key_groups if division else None)
    planned.announce(stream)
    with translated():
        rewrite(spark, stream, planned, division)
    settle_rescale(stream, lambda: spark)


def settle_rescale(stream: Place, spark: Callable[[], SparkSession]) -> None:
    """`settle`, and give the tables of files that the stream writes an entry for the micro-batch in Spark's logs.
    Without a manifest the next run does that."""

    def committed(micro_batch: int) -> None:
        manifest = manifest_in(stream)
        if manifest is not None and (folders := [sink.at for sink in manifest.sinks if sink.logged]):
            complete_logs(spark(), micro_batch, folders)

    settle(stream, committed)


def refuse_unready(stream: Place) -> int:
    """The last micro-batch of a stream. Raises DataError if one has not finished, and UnsupportedError if Spark wrote
    it in a way that is not known here."""
    if found := OTHER_IN_URIS.search(str(stream.resolved())):
        raise UnsupportedError(
            f"Spark does not find the state to rescale in {stream}, because of {found[0]!r} in its path",
            hint="move the checkpoint to a path without it, rescale it there, and move it back",
        )
    last = finished(stream)
    assert last is not None, stream
    begun = max(int(name) for name in (stream / "spark" / "offsets").names() if name.isdigit())
    if begun != last:
        raise DataError(
            f"stream {stream.name} has not finished its micro-batch {begun}",
            hint="run its script once more, then rescale it",
        )
    if not ((stream / "spark" / "commits" / str(last)).read() or "").startswith("v1\n"):
        raise UnsupportedError(
            f"stream {stream.name} has checkpoints of another format of Spark's "
            "(spark.sql.streaming.stateStore.checkpointFormatVersion), which cannot be rescaled"
        )
    return last


def _division(spark: SparkSession, stream: Place, before: int, after: int) -> Division:
    """How the state is divided. Raises UnsupportedError if it cannot be."""
    with translated():
        found = indexes(spark, stream)
    manifest = manifest_in(stream)
    for groups in found.values():
        refuse_undividable(stream, groups, before, manifest)
    joins = (state for state in manifest.operators if state.kind == "JOIN") if manifest else ()
    return Division(before, after, tuple(tuple(column.name for column in state.columns) for state in joins))


def refuse_undividable(stream: Place, groups: Indexes, before: int, manifest: Manifest | None) -> None:
    """Raise UnsupportedError if the state of an operator is not known well enough to be divided, and DataError if its
    key groups are not those of `before`, or have not seen the same watermarks."""
    description = Description.load(next(iter(groups.values())).description)
    if description.operator not in OPERATORS:
        raise UnsupportedError(f"the state of {description.operator} cannot be divided")
    if description.operator == JOIN and description.keys and manifest is None:
        raise UnsupportedError(
            f"stream {stream.name} joins rows, and its checkpoint has no manifest, which says by which columns",
            hint="run the script of the stream once with tvfsql run, which adds the manifest, then rescale it",
        )
    labels = key_group_labels(before if is_divided(description) else 1)
    if strange := sorted({*groups} - {*labels}):
        raise DataError(
            f"the checkpoint {stream} is damaged: it has a key group {strange[0]}, "
            f"which no stream with {_counted(before, 'key group')} has"
        )
    if len({(index.watermark, index.channels) for index in groups.values()}) > 1:
        raise DataError(
            f"the key groups of {description.operator} in stream {stream.name} have different watermarks",
            hint="run its script once more, then rescale it",
        )
