"""Columns whose values are in the names of folders, such as `day=1`, where Spark does not know the folders yet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import LOG, is_ignored
from tvfsql.runtime.cluster.places import table_place

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # Spark's name of a folder for NULL
FEW = 32  # folders, which Spark lists on the driver; for more it starts a job
PATTERN = re.compile(r"[*?{}[\]\\]")  # in a path: Hadoop takes it for a pattern


def folder_value(name: str, kind: str) -> Column:
    """The value of a column (DDL type `kind`) in the path of the file that a row is from, as Spark reads it. An error
    if the file is in no such folder."""
    path = F.col("_metadata.file_path")
    value = F.regexp_extract(path, f".*/{re.escape(name)}=([^/]*)/", 1)
    text = F.url_decode(F.url_decode(F.replace(value, F.lit("+"), F.lit("%252B"))))  # names in a URI, escaped twice
    missing = F.raise_error(F.concat(path, F.lit(f" is in no folder {name}=...")))
    return F.when(value == "", missing).when(text != NO_VALUE, text).cast(kind)


def chosen_folders(
    spark: SparkSession, path: str, column: str, *, least: Sequence[str] = (), most: Sequence[str] = ()
) -> list[str]:
    """The folders `column=value` in `path` whose value may be between constants (SQL of DATE, or of STRING that begins
    with a year, all of one length): Spark looks into all folders before it chooses.

    Returns `path` alone if Spark has to find out: there are few folders, a stream's log says which files count, other
    files or folders are beside them, or only a Spark Connect server sees them.
    """
    place = None if of_connect(spark) or PATTERN.search(path) else table_place(path, spark)
    names = [] if place is None else place.names()
    folders = [name for name in names if not is_ignored(name)]
    told = all(name.lower().startswith(f"{column.lower()}=") and not PATTERN.search(name) for name in folders)
    if len(folders) <= FEW or LOG in names or not told:
        return [path]
    ends = spark.sql(f"SELECT {', '.join(f'STRING({end})' for end in (*least, *most))} FROM VALUES (0)").collect()[0]
    length = len(ends[0] or "")
    if not all(end and len(end) == length and end[0].isdigit() for end in ends):
        return [path]
    low, high = max(ends[: len(least)], default=""), min(ends[len(least) :], default="a")
    values = [unquote(name.partition("=")[2], "latin-1") for name in folders]  # Spark escapes single characters
    pairs = zip(folders, values, strict=True)
    found = [name for name, value in pairs if low <= value <= high or len(value) != length or not value[0].isdigit()]
    return [f"{path.rstrip('/')}/{name}" for name in found or folders[:1]]  # the condition stays, and drops other rows
