"""The number of key groups of a stream: asked for by its query, or by cores, and kept in its checkpoint from then on.

Rows do not depend on it, and a program may run on any machine, so a query need not say it. Source:
docs/streams.md#rescale.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from pyspark.sql import SparkSession

from tvfsql.errors import DataError, OptionError
from tvfsql.plan.checkpoint.changes import rescale_hint
from tvfsql.plan.checkpoint.manifest import PARALLELISM, Manifest
from tvfsql.plan.stream import KEY_GROUPS
from tvfsql.runtime.cluster.asked import is_local
from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import Place

FILE = "parallelism.json"  # in a checkpoint
TASKS = "spark.sql.shuffle.partitions"
LEAST = 2  # tasks, and so key groups, on one core too


def kept_key_groups(folder: Place, manifest: Manifest | None) -> int | None:
    """The number of key groups of a checkpoint. Older releases kept it in the `manifest` only, and for a compiled
    program nowhere: None, as for a checkpoint that no run has begun. Raises DataError if it cannot be read."""
    file = folder / FILE
    try:
        if (text := file.read()) is not None:
            return int(json.loads(text)["key_groups"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"the checkpoint {folder} is damaged: {file} has no number of key groups", hint=f"restore {file}"
        ) from error
    told = ((state.settings or {}).get(PARALLELISM) for state in manifest.operators) if manifest else ()
    return max((int(number) for number in told if number), default=None)


def keep_key_groups(folder: Place, number: int) -> None:
    """Note the number of key groups of a checkpoint."""
    (folder / FILE).write(json.dumps({"key_groups": number}) + "\n")


def refuse_other_number(kept: int | None, asked: Collection[int]) -> None:
    """Raise OptionError if operators ask for other numbers of key groups than their checkpoint has."""
    others = {*asked} - {kept}
    if kept is not None and others:
        raise OptionError(
            f"the checkpoint has {kept} key groups, but the query asks for {max(others)}",
            hint=rescale_hint(max(others)),
        )


def usual_key_groups(spark: SparkSession) -> int:
    """One per task: as many as the session has shuffle partitions, or cores if these are fewer or it does not say. Each
    key group costs state calls, and more tasks than cores gain nothing.

    A cluster may still get cores later, so it has at least KEY_GROUPS.
    """
    if of_connect(spark):
        return KEY_GROUPS
    context = spark.sparkContext
    most = max(LEAST if is_local(context.master or "") else KEY_GROUPS, context.defaultParallelism)
    told = spark.conf.getAll.get(TASKS)
    return min(int(told), most) if told else most
