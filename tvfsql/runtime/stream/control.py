"""The control channel: watermarks that no row brings, and ticks. A small file stream beside each source's rows.

It lives under the checkpoint, so what was said through it is remembered as the rows are, and a micro-batch that
is run again decides the same. Source: DESIGN 7.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tvfsql.runtime.stream.valve import IDLE, TICK

FOLDER = "spark.tvfsql.control"  # the setting that names the running query's channel
END_OF_INPUT = 2**63 - 1
# Columns of rows on their way to a window operator, besides their own; no SQL name begins with a $.
WATERMARK, CONTROL, CHANNEL = "$watermark", "$control", "$channel"
NOW = "now"  # of messages to operators: the time of their micro-batch


def with_control(rows: DataFrame, table: str) -> DataFrame:
    """The rows of a table, and the control rows of the query that is being built.

    Out: the columns of `rows`, `$control` (bigint) and `$channel` (string). In rows `$control` is NULL and `$channel`
    as `rows` has it (the partition of the source), else NULL: the source is one channel. Control rows have in
    `$control` a watermark in epoch ms, IDLE or TICK, and in `$channel` for whom it is: NULL for all channels, "" for a
    source that is one; all else is NULL. Without a control folder (`spark.tvfsql.control` is not set) there are none.
    """
    own = rows.withColumn(CONTROL, F.lit(None).cast("bigint"))
    if CHANNEL not in rows.columns:
        own = own.withColumn(CHANNEL, F.lit(None).cast("string"))
    folder = rows.sparkSession.conf.get(FOLDER, None)
    if folder is None:
        return own
    said = rows.sparkSession.readStream.schema(f"`{CONTROL}` BIGINT, `{CHANNEL}` STRING").json(folder)
    to = F.col(CHANNEL)
    ours = to.isNull() | (to == table) | to.startswith(f"{table}/")
    return own.unionByName(
        said.where(ours).withColumn(CHANNEL, F.substring(to, len(table) + 2, 2**31 - 1)), allowMissingColumns=True
    )


def with_now(messages: DataFrame) -> DataFrame:
    """The messages of a micro-batch to an operator, with its time (`now`, bigint, epoch ms), the same for all of them.

    Spark keeps it in the offset log, so a micro-batch that is run again has the time that it had.
    """
    return messages.withColumn(NOW, F.unix_millis(F.current_timestamp()))


def advance(folder: Path, watermark: int, channel: str | None = None) -> None:
    """Say that event time has come to `watermark` (epoch ms); END_OF_INPUT fires every window.

    `channel` is a table's name, or `table/partition` of one whose partitions are channels; None: all of them.
    """
    handle, draft = tempfile.mkstemp(prefix="_", dir=folder)  # Spark's file streams pass over names with _
    with os.fdopen(handle, "w") as file:
        json.dump({CONTROL: watermark} | ({CHANNEL: channel} if channel else {}), file)
    number = len(list(folder.glob("*.json")))
    while True:  # another process may speak at the same time
        try:
            os.link(draft, folder / f"{number:09d}.json")
            break
        except FileExistsError:
            number += 1
    os.unlink(draft)


def ended(folder: Path) -> bool:
    """Whether the end of the input has been said."""
    return any(json.loads(file.read_text())[CONTROL] == END_OF_INPUT for file in folder.glob("*.json"))


def idle(folder: Path, channel: str | None = None) -> None:
    """Say that nothing comes from a channel (None: from any) until it has rows again."""
    advance(folder, IDLE, channel)


def tick(folder: Path) -> None:
    """Have a micro-batch happen though no rows come: operators that wait for a time are called."""
    advance(folder, TICK)
