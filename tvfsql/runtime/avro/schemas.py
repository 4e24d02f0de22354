"""The Avro schema of a table's columns, with the names and types that Flink gives it. Source: Flink's table of Avro
types.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import types as T

RECORD = "record"
NAMESPACE = "org.apache.flink.avro.generated"
SIMPLE: dict[type[T.DataType], Any] = {
    T.StringType: "string",
    T.BooleanType: "boolean",
    T.BinaryType: "bytes",
    T.ByteType: "int",
    T.ShortType: "int",
    T.IntegerType: "int",
    T.LongType: "long",
    T.FloatType: "float",
    T.DoubleType: "double",
    T.DateType: {"type": "int", "logicalType": "date"},
    T.TimeType: {"type": "int", "logicalType": "time-millis"},
    T.TimestampNTZType: {"type": "long", "logicalType": "timestamp-millis"},
    T.TimestampType: {"type": "long", "logicalType": "timestamp-millis"},
}


def record_schema(columns: T.StructType, name: str = RECORD) -> dict[str, Any]:
    """The schema of a record whose fields are columns. All fields may be null, which is also their default."""
    fields = [
        {"name": field.name, "type": ["null", _type(field.dataType, f"{name}_{field.name}")], "default": None}
        for field in columns.fields
    ]
    space = {"namespace": NAMESPACE} if name == RECORD else {}
    return {"type": "record", "name": name, **space, "fields": fields}


def _type(kind: T.DataType, name: str) -> Any:
    match kind:
        case T.StructType():
            return record_schema(kind, name)
        case T.ArrayType():
            return {"type": "array", "items": ["null", _type(kind.elementType, name)]}
        case T.MapType():
            return {"type": "map", "values": ["null", _type(kind.valueType, name)]}
        case T.DecimalType():
            return {"type": "bytes", "logicalType": "decimal", "precision": kind.precision, "scale": kind.scale}
    return SIMPLE[type(kind)]
