"""Spark's types from our spelling of them, without Spark: `T.StructType.fromDDL` needs a session."""

from __future__ import annotations

from pyspark.sql import types as T

from tvfsql.plan.node import Field
from tvfsql.plan.values.types import Array, Decimal, Map, Row, SqlType, Time

SIMPLE: dict[str, type[T.DataType]] = {
    "string": T.StringType,
    "boolean": T.BooleanType,
    "binary": T.BinaryType,
    "tinyint": T.ByteType,
    "smallint": T.ShortType,
    "int": T.IntegerType,
    "bigint": T.LongType,
    "float": T.FloatType,
    "double": T.DoubleType,
    "date": T.DateType,
    "timestamp_ntz": T.TimestampNTZType,
    "timestamp": T.TimestampType,
}


def struct_of(columns: tuple[Field, ...]) -> T.StructType:
    return T.StructType([T.StructField(field.name, type_of(field.type)) for field in columns])


def type_of(kind: SqlType) -> T.DataType:
    match kind:
        case Row(fields):
            return T.StructType([T.StructField(name, type_of(part)) for name, part in fields])
        case Array(element):
            return T.ArrayType(type_of(element))
        case Map(key, value):
            return T.MapType(type_of(key), type_of(value))
        case Decimal(precision, scale):
            return T.DecimalType(precision, scale)
        case Time(digits):
            return T.TimeType(digits)
    return SIMPLE[kind.spark]()
