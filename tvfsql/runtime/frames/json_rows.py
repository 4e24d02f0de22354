"""Rows that are given as JSON, in the types of a table: what a JSON file of that table would hold."""

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
    """The rows, in their order and in one partition, and the places of those that do not fit the schema. TIMESTAMP_LTZ
    without an offset is the wall clock of `zone`."""
    wide = T.StructType([*schema.fields, T.StructField(BAD, T.StringType())])
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": BAD, "timeZone": zone}
    given = spark.createDataFrame(pa.table({"text": pa.array(texts, pa.string())}))
    parsed = given.select(F.from_json("text", wide, options).alias("row")).select("row.*")
    table = local_arrow(parsed)
    bad = [i for i, text in enumerate(table.column(BAD).to_pylist()) if text is not None]
    return frame_of_batches(spark, table.drop_columns([BAD]).to_batches(), schema), bad
