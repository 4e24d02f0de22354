"""The rows of a DataFrame in Python, as they are printed: each instant on the clock of `table.local-time-zone`.

Everything that prints rows takes them from here (`run`, `show`, `text`, `print` tables, the shell, charts, notebooks),
so neither the machine's time zone nor Spark's session has an effect.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tvfsql.errors import DataError
from tvfsql.plan.tables.internal_columns import OP
from tvfsql.plan.values.times import clock_of
from tvfsql.runtime.arrow.shown_values import rows_of
from tvfsql.runtime.frames.arrow_tables import frame_of_batches, local_arrow
from tvfsql.runtime.frames.assigned_windows import with_local_times
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.host.input_checks import check_input
from tvfsql.runtime.host.row_formats import cells, write_rows

# Types whose values Arrow gives to Python as Spark does
ARROW = (
    T.BooleanType, T.ByteType, T.ShortType, T.IntegerType, T.LongType, T.FloatType, T.DoubleType, T.DecimalType,
    T.StringType, T.BinaryType, T.DateType, T.TimestampType, T.TimestampNTZType, T.DayTimeIntervalType, T.NullType,
)  # fmt: skip
FIRST = 20  # the rows that the program of a SELECT shows, as many as Spark's show


def shown_rows(rows: DataFrame, zone: str) -> list[Row]:
    """The rows, with instants as wall-clock times of `zone`. A time of a year that datetime does not have is a
    `FarTime`: the text that is printed. An interval of months, for which Python has no type, is its text, as in
    INTERVAL '1-2' YEAR TO MONTH."""
    return _rows(rows, zone)


def collected(rows: DataFrame) -> list[Row]:
    """The rows as Spark collects them, with instants on the clock of this machine. A time of a year that datetime does
    not have, and an interval of months, with which Spark fails, are as in `shown_rows`."""
    return _rows(rows, None)


def show_rows(rows: DataFrame, zone: str) -> None:
    """Print the first rows as a table."""
    first = shown_rows(rows.limit(FIRST + 1), zone)
    write_rows(rows.columns, [kind for _, kind in rows.dtypes], first[:FIRST], "table", sys.stdout)
    if len(first) > FIRST:
        print(f"the first {FIRST} rows")


def _rows(rows: DataFrame, zone: str | None) -> list[Row]:
    names = rows.columns
    numbered = rows if len(set(names)) == len(names) else rows.toDF(*(f"c{i}" for i in range(len(names))))
    if any(_has_months(field.dataType) for field in numbered.schema):
        shown = (_months_as_text(column_of(each.name), each.dataType).alias(each.name) for each in numbered.schema)
        numbered = numbered.select(*shown)
        rows = numbered.toDF(*names)
    if names and _is_arrow(numbered.schema):
        return rows_of(numbered.toArrow(), names, clock_of(zone))
    try:
        return (rows if zone is None else with_local_times(rows, zone)).collect()
    except (ValueError, OverflowError) as error:  # from datetime
        if "year" not in str(error) and "date" not in str(error):
            raise
        raise DataError(
            f"a time is out of Python's range: {error}", hint="to_arrow(), or CAST(... AS STRING)"
        ) from error


def _has_months(kind: T.DataType) -> bool:
    match kind:
        case T.StructType():
            return any(_has_months(field.dataType) for field in kind.fields)
        case T.ArrayType():
            return _has_months(kind.elementType)
        case T.MapType():
            return _has_months(kind.keyType) or _has_months(kind.valueType)
    return isinstance(kind, T.YearMonthIntervalType)


def _months_as_text(value: Column, kind: T.DataType) -> Column:
    """The value, in which the text of each interval of months is in its place."""
    if not _has_months(kind):
        return value
    match kind:
        case T.StructType():
            fields = (_months_as_text(value[field.name], field.dataType).alias(field.name) for field in kind.fields)
            return F.when(value.isNotNull(), F.struct(*fields))
        case T.ArrayType():
            return F.transform(value, lambda item: _months_as_text(item, kind.elementType))
        case T.MapType():
            of_keys = F.transform_keys(value, lambda key, _: _months_as_text(key, kind.keyType))
            return F.transform_values(of_keys, lambda _, held: _months_as_text(held, kind.valueType))
    return F.regexp_extract(value.cast(T.YearMonthIntervalType()).cast("string"), "'(.*)'", 1)


def _is_arrow(kind: T.DataType) -> bool:
    match kind:
        case T.StructType():
            names = kind.names
            return len(set(names)) == len(names) and all(_is_arrow(field.dataType) for field in kind.fields)
        case T.ArrayType():
            return _is_arrow(kind.elementType)
        case T.MapType():
            return _is_arrow(kind.keyType) and _is_arrow(kind.valueType)
    return type(kind) in ARROW


# The output of the `print` connector.


def print_rows(rows: DataFrame, zone: str = "UTC") -> None:
    """Print each row to stdout as Flink's print connector does: `+I[first, second, ...]`, NULL as null. Other values
    are as `tvfsql run` shows them, with instants on the clock of `zone`."""
    check_input(rows)
    at = rows.columns.index(OP) if OP in rows.columns else None
    for row in cells([kind for _, kind in rows.dtypes], shown_rows(rows, zone)):
        shown = ("null" if value is None else value for place, value in enumerate(row) if place != at)
        print(f"{'+I' if at is None else row[at]}[{', '.join(shown)}]")


# Rows frame as JSON, converted to the types of a table, as a JSON file of that table would be read.


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
