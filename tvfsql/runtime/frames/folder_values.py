"""Columns whose values are in the names of folders, such as `day=1`, where Spark does not know the folders."""

from __future__ import annotations

import re

from pyspark.sql import Column
from pyspark.sql import functions as F

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # Spark's name of a folder for NULL


def folder_value(name: str, kind: str) -> Column:
    """The value of a column (DDL type `kind`) in the path of the file that a row is from, as Spark reads it. An error
    if the file is in no such folder."""
    path = F.col("_metadata.file_path")
    value = F.regexp_extract(path, f".*/{re.escape(name)}=([^/]*)/", 1)
    text = F.url_decode(F.url_decode(F.replace(value, F.lit("+"), F.lit("%252B"))))  # names in a URI, escaped twice
    missing = F.raise_error(F.concat(path, F.lit(f" is in no folder {name}=...")))
    return F.when(value == "", missing).when(text != NO_VALUE, text).cast(kind)
