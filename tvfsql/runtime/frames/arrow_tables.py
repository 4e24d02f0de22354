"""Tables of other libraries as Spark DataFrames, and rows of streams as one Arrow table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T
from pyspark.sql.conversion import LocalDataToArrowConversion
from pyspark.sql.pandas.types import from_arrow_schema

from tvfsql.errors import DataError
from tvfsql.runtime.host.spark_versions import arrow_schema


def arrow_of(data: Any) -> pa.Table:
    """The rows of a pandas DataFrame, an Arrow table, or any object with Arrow's C stream interface (polars, duckdb).

    Raises DataError for other objects, and for columns that Arrow cannot represent.
    """
    kind = type(data)
    try:
        if isinstance(data, pa.Table):
            return data
        if kind.__module__.partition(".")[0] == "pandas":
            return pa.Table.from_pandas(data, preserve_index=False)
        if hasattr(data, "__arrow_c_stream__"):
            return pa.table(data)
    except pa.ArrowException as error:  # such as a pandas column with numbers and texts
        raise DataError(f"this {kind.__name__} cannot be read: {error}", hint="give each column one type") from error
    raise DataError(
        f"{kind.__module__}.{kind.__qualname__} is not a table",
        hint="pass a DataFrame of Spark, pandas or polars, or an Arrow table",
    )


def frame_of(spark: SparkSession, table: pa.Table) -> DataFrame:
    """A Spark DataFrame with the rows of a table. Times without a zone become TIMESTAMP, others TIMESTAMP_LTZ.

    Raises DataError for a type that Spark lacks.
    """
    try:
        return spark.createDataFrame(table, schema=from_arrow_schema(table.schema, prefer_timestamp_ntz=True))
    except PySparkException as error:
        raise DataError(f"a column has a type that Spark lacks: {error}", hint="cast it first") from error


def local_arrow(rows: DataFrame) -> pa.Table:
    """The rows as an Arrow table, for few rows. Rows that the driver already has need no Spark job, which `toArrow`
    would run."""
    found = rows.collect()
    if not found:
        return arrow_schema(rows.schema).empty_table()
    table: pa.Table = LocalDataToArrowConversion.convert(found, rows.schema, False)
    return table


def frame_of_batches(spark: SparkSession, batches: Iterable[pa.RecordBatch], schema: T.StructType) -> DataFrame:
    """A DataFrame with the rows of the batches, whose columns are matched with `schema` by position."""
    wanted = arrow_schema(schema)
    parts = [pa.RecordBatch.from_arrays(batch.columns, schema=wanted) for batch in batches]
    none = pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in wanted], schema=wanted)
    return spark.createDataFrame(pa.Table.from_batches(parts or [none]), schema)  # pyspark fails without a batch


def one_table(parts: list[pa.Table], empty: DataFrame) -> pa.Table:
    """The rows of all micro-batches. Without any, an empty table with the columns of `empty`."""
    return pa.concat_tables(parts) if parts else empty.sparkSession.createDataFrame([], empty.schema).toArrow()


def text_table(columns: tuple[str, ...], rows: tuple[tuple[str | None, ...], ...]) -> pa.Table:
    """A listing as a table of text columns."""
    return pa.table({name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(columns)})
