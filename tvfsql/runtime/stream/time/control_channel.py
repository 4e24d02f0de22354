"""The control channel: watermarks that no row brings, idle channels, and triggers, in a stream of small files.

It is under the checkpoint. Spark remembers what came through it as it does for rows, so a repeated micro-batch decides
the same. Source: architecture.md#watermarks-and-the-control-channel.
"""

from __future__ import annotations

import json
import time
from uuid import uuid4

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tvfsql.errors import DataError
from tvfsql.plan.tables.internal_columns import CHANNEL, CONTROL
from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.stream.time.execution import execution
from tvfsql.runtime.stream.time.valve import END_OF_INPUT as END_OF_INPUT
from tvfsql.runtime.stream.time.valve import IDLE, TRIGGER

NOW = "now"  # a column of messages to operators: the time of their micro-batch


def with_control(rows: DataFrame, table: str) -> DataFrame:
    """The rows of a table, and the control rows of the query that is being built.

    Out: the columns of `rows`, `$control` (bigint) and `$channel` (string).
    In data rows, `$control` is NULL, and `$channel` is the partition of the source, if `rows` has that column. NULL:
    the whole source is one channel.
    In control rows, `$control` is a watermark in epoch ms, IDLE or TRIGGER. `$channel` is the channel that it applies
    to: NULL for all channels, "" for a source that is one channel. All other columns are NULL. Without a control folder
    (`spark.tvfsql.control` is not set) there are no control rows.
    """
    own = rows.withColumn(CONTROL, F.lit(None).cast("bigint"))
    if CHANNEL not in rows.columns:
        own = own.withColumn(CHANNEL, F.lit(None).cast("string"))
    control = execution().control_rows(rows.sparkSession)
    if control is None:
        return own
    to = F.col(CHANNEL)
    ours = to.isNull() | (to == table) | to.startswith(f"{table}/")
    return own.unionByName(
        control.where(ours).withColumn(CHANNEL, F.substring(to, len(table) + 2, 2**31 - 1)), allowMissingColumns=True
    )


def with_now(sent: DataFrame) -> DataFrame:
    """The messages of a micro-batch to an operator, with its time (`now`, bigint, epoch ms), the same for all.

    Spark writes the time into the code that it generates, so each micro-batch would compile its own. Spark interprets
    `zip_with` and what is inside it, so there the time changes no code.
    """
    now = F.array(execution().now())
    return sent.withColumn(NOW, F.zip_with(now, now, lambda time, _: F.unix_millis(time))[0])


def advance(folder: Place, watermark: int, channel: str | None = None) -> None:
    """Announce that event time has reached `watermark` (epoch ms). END_OF_INPUT fires every window.

    `channel` is the name of a table, or `table/partition` if its partitions are channels. None: all channels.
    """
    message = {CONTROL: watermark} | ({CHANNEL: channel} if channel else {})
    # a name of its own: another process may write at the same time, and not every file system would notice
    name = f"{time.time_ns()}-{uuid4().hex[:12]}.json"
    (folder / name).write(json.dumps(message))


def ended(folder: Place) -> list[str]:
    """The messages that announce the end of the input; none: it has not ended. Raises DataError if a message cannot be
    read."""
    return [name for name in messages(folder) if _watermark(folder / name) == END_OF_INPUT]


def messages(folder: Place) -> list[str]:
    """The names of the messages that are in the folder, the oldest first."""
    return [name for name in folder.names() if name.endswith(".json")]


def _watermark(file: Place) -> int:
    """The watermark in a control file, or IDLE or TRIGGER; TRIGGER if the file has just been deleted. Raises DataError
    if it is empty or truncated."""
    try:
        if (text := file.read()) is None:
            return TRIGGER
        watermark = json.loads(text)[CONTROL]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"the checkpoint is damaged: {file} is not a control message",
            hint="delete that file; CALL advance_watermark can repeat its message",
        ) from error
    return int(watermark)


def idle(folder: Place, channel: str | None = None) -> None:
    """Announce that a channel (None: all channels) is idle until it has rows again."""
    advance(folder, IDLE, channel)


def trigger(folder: Place) -> None:
    """Cause a micro-batch even without rows, so that operators that wait for a time are called."""
    advance(folder, TRIGGER)
