"""Spark's types from our spelling of them, without Spark: `T.StructType.fromDDL` needs a session."""

from __future__ import annotations

from pyspark.sql import types as T

from tvfsql.plan.node import Field
from tvfsql.plan.values.types import SqlType, fields, split_kinds

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
    inner = kind.partition("<")[2][:-1]
    match kind.partition("<")[0].partition("(")[0]:
        case "struct":
            return T.StructType([T.StructField(name, type_of(part)) for name, part in fields(kind).items()])
        case "array":
            return T.ArrayType(type_of(inner))
        case "map":
            key, value = split_kinds(inner)
            return T.MapType(type_of(key), type_of(value))
        case "decimal":
            return T.DecimalType(*map(int, kind[8:-1].split(",")))
        case "time":
            return T.TimeType(int(kind[5:-1]))
    return SIMPLE[kind]()
