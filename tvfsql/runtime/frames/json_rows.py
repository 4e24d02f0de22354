"""Rows frame as JSON, converted to the types of a table, as a JSON file of that table would be read."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tvfsql.runtime.frames.arrow_tables import frame_of_batches, local_arrow

BAD = "$bad"


def rows_of_json(
    spark: SparkSession, texts: Sequence[str], schema: T.StructType, zone: str
) -> tuple[DataFrame, list[int]]:
    """The rows, in order and in one partition, and the indexes of those that do not fit the schema.

    A TIMESTAMP_LTZ without an offset is a wall-clock time in `zone`.
    """
    wide = T.StructType([*schema.fields, T.StructField(BAD, T.StringType())])
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": BAD, "timeZone": zone}
    frame = spark.createDataFrame(pa.table({"text": pa.array(texts, pa.string())}))
    parsed = frame.select(F.from_json("text", wide, options).alias("row")).select("row.*")
    table = local_arrow(parsed)
    bad = [i for i, text in enumerate(table.column(BAD).to_pylist()) if text is not None]
    return frame_of_batches(spark, table.drop_columns([BAD]).to_batches(), schema), bad
