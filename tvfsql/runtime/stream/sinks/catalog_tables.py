"""Rows of micro-batches in tables of Spark's catalogs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import LOG
from tvfsql.runtime.databases.lakehouse import append_rows
from tvfsql.runtime.host.input_checks import check_input
from tvfsql.runtime.host.spark_catalog import format_of
from tvfsql.runtime.stream.sinks.files import exists, write_files

FORMATS = ("avro", "csv", "json", "orc", "parquet", "text")


@dataclass(frozen=True)
class Files:
    """The files of a table, which no other layer describes."""

    path: str
    format: str
    options: Mapping[str, str]
    partition_by: Sequence[str]


def write_table(rows: DataFrame, number: int, table: str) -> None:
    """Add the rows of micro-batch `number` to a table, by the names of its columns.

    If the table is made of files, repeated after a kill this replaces the files of the first try. A table of Delta or
    Iceberg recognises the number. Other tables, and those with buckets or CHAR and VARCHAR columns, receive the rows
    again. Raises DataError if Spark's file log in the
    table's folder would hide the files.
    """
    check_input(rows)
    spark = rows.sparkSession
    fields = spark.table(table).schema.fields
    stored = rows.select(*(F.col(f"`{field.name}`").cast(field.dataType).alias(field.name) for field in fields))
    padded = any("__CHAR_VARCHAR_TYPE_STRING" in field.metadata for field in fields)
    files = None if padded else _files(spark, table)
    if files is None:
        append_rows(stored, number, table, format_of(spark, table))
        return
    if exists(spark, files.path, LOG):
        raise DataError(
            f"the folder of table {table} has a file log of Spark's streams, which hides other files",
            hint="another table",
        )
    by = files.partition_by
    write_files(stored, number, files.path, files.format, options=files.options, partition_by=by)
    if by:
        spark.catalog.recoverPartitions(table)
    spark.catalog.refreshTable(table)


def _files(spark: SparkSession, table: str) -> Files | None:
    """The files of a table; None if only Spark can write it."""
    try:
        (row,) = spark.sql(f"DESCRIBE TABLE EXTENDED {table} AS JSON").collect()
    except AnalysisException:  # not a table of the session catalog
        return None
    found: dict[str, Any] = json.loads(row[0])
    if found.get("provider", "").lower() not in FORMATS or "num_buckets" in found:
        return None
    options = {
        key: value for key, value in found.get("storage_properties", {}).items() if key != "serialization.format"
    }
    return Files(found["location"], found["provider"].lower(), options, found.get("partition_columns", ()))
