"""The control channel: watermarks that no row brings. A small file stream beside each source's rows.

It lives under the checkpoint, so what was said through it is remembered as the rows are. Source: DESIGN 7.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

FOLDER = "spark.tvfsql.control"  # the setting that names the running query's channel
END_OF_INPUT = 2**63 - 1


def with_control(rows: DataFrame) -> DataFrame:
    """The rows, and the control rows of the query that is being built.

    Out: the columns of `rows` and `$control` (bigint): NULL in rows; in control rows a watermark in epoch ms,
    all else NULL. Without a channel (`spark.tvfsql.control` is not set) there are no control rows.
    """
    own = rows.withColumn("$control", F.lit(None).cast("bigint"))
    folder = rows.sparkSession.conf.get(FOLDER, None)
    if folder is None:
        return own
    control = rows.sparkSession.readStream.schema("`$control` BIGINT").json(folder)
    return own.unionByName(control, allowMissingColumns=True)


def advance(folder: Path, watermark: int) -> None:
    """Say that event time has come to `watermark` (epoch ms); END_OF_INPUT fires every window."""
    handle, draft = tempfile.mkstemp(prefix="_", dir=folder)  # Spark's file streams pass over names with _
    with os.fdopen(handle, "w") as file:
        file.write(f'{{"$control": {watermark}}}\n')
    Path(draft).replace(folder / f"{len(list(folder.glob('*.json'))):09d}.json")
