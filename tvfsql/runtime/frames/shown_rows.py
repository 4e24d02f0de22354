"""The rows of a DataFrame in Python, as they are printed: each instant on the clock of `table.local-time-zone`.

Everything that prints rows takes them from here (`run`, `show`, `text`, `print` tables, the shell, charts, notebooks),
so neither the machine's time zone nor Spark's session has an effect.
"""

from __future__ import annotations

import sys

from pyspark.sql import DataFrame, Row
from pyspark.sql import types as T

from tvfsql.errors import DataError
from tvfsql.plan.values.times import clock_of
from tvfsql.runtime.arrow.shown_values import rows_of
from tvfsql.runtime.frames.assigned_windows import with_local_times
from tvfsql.runtime.host.row_formats import write_rows

# Types whose values Arrow gives to Python as Spark does
ARROW = (
    T.BooleanType, T.ByteType, T.ShortType, T.IntegerType, T.LongType, T.FloatType, T.DoubleType, T.DecimalType,
    T.StringType, T.BinaryType, T.DateType, T.TimestampType, T.TimestampNTZType, T.DayTimeIntervalType, T.NullType,
)  # fmt: skip
FIRST = 20  # the rows that the program of a SELECT shows, as many as Spark's show


def shown_rows(rows: DataFrame, zone: str) -> list[Row]:
    """The rows, with instants as wall-clock times of `zone`. A time of a year that datetime does not have is a
    `FarTime`: the text that is printed."""
    return _rows(rows, zone)


def collected(rows: DataFrame) -> list[Row]:
    """The rows as Spark collects them, with instants on the clock of this machine. A time of a year that datetime does
    not have, with which Spark fails, is a `FarTime`."""
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
