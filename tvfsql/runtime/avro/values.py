"""Converts values between fastavro's and Arrow's."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Never, cast
from uuid import UUID

from pyspark.sql import types as T

from tvfsql.errors import DataError
from tvfsql.runtime.avro.limits import Schema
from tvfsql.runtime.messages.rows import BadMessage, cut

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST = -62135596800000, 253402300799999  # the years 1 to 9999, in ms
HINT = "pip install 'tvfsql[avro]', also for Spark's workers"
Convert = Callable[[Any], Any]


def columns_of(ddl: str, form: str) -> T.StructType:
    """The columns of a DDL text. Raises DataError if fastavro is not installed."""
    try:
        import fastavro  # noqa: F401
    except ImportError as error:
        raise DataError(f"the format {form} needs the package fastavro", hint=HINT) from error
    return cast(T.StructType, T.StructType.fromDDL(ddl))


def reader(kind: T.DataType) -> Convert:
    """A function that makes values of fastavro those that Arrow takes for a type. None stays None."""
    match kind:
        case T.StructType():
            parts = [(field.name, reader(field.dataType)) for field in kind.fields]
            return _of(dict, "ROW", lambda value: {name: convert(value.get(name)) for name, convert in parts})
        case T.ArrayType():
            item = reader(kind.elementType)
            return _of(list, "ARRAY", lambda value: [item(one) for one in value])
        case T.MapType():
            item = reader(kind.valueType)
            return _of(dict, "MAP", lambda value: [(key, item(one)) for key, one in value.items()])
        case T.TimestampNTZType():
            return lambda value: _time(value).replace(tzinfo=None) if value is not None else None
        case T.TimestampType():
            return lambda value: _instant(_time(value)) if value is not None else None
        case T.StringType():
            return lambda value: str(value) if isinstance(value, UUID) else value
    return lambda value: value


def _of(made: type, word: str, convert: Convert) -> Convert:
    """The same for values of one class; others are the values of a schema that has another type there."""

    def converted(value: object) -> object:
        if value is None:
            return None
        if not isinstance(value, made):
            raise BadMessage(f"{cut(repr(value))} in a message is not {word}")
        return convert(value)

    return converted


def _time(value: object) -> datetime:
    """A time of a field: of a logical type, or as a bare number of milliseconds."""
    if isinstance(value, datetime):
        return value
    if isinstance(value, int) and FIRST <= value <= LAST:
        return EPOCH + timedelta(milliseconds=value)
    raise BadMessage(f"{value!r} is not a time")


def _instant(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise BadMessage(f"{value} has no time zone: its column would be a TIMESTAMP")
    return value


def writer(kind: T.DataType, schema: Schema, name: str = "", named: dict[str, Schema] | None = None) -> Convert:
    """The inverse of `reader`, for values of a schema. It raises DataError for None where the schema has no null, which
    fastavro might write as something else. `name` is that of the value, `named` the records of the schema so far.
    """
    named = {} if named is None else named
    if not isinstance(schema, list):
        convert = _present(kind, named.get(schema, schema) if isinstance(schema, str) else schema, name, named)
        return lambda value: _refuse_null(name) if value is None else convert(value)
    convert = _present(kind, named.get(schema[1], schema[1]) if isinstance(schema[1], str) else schema[1], name, named)
    return lambda value: None if value is None else convert(value)


def _present(kind: T.DataType, schema: Schema, name: str, named: dict[str, Schema]) -> Convert:
    """The same for values that are not None."""
    match kind:
        case T.StructType():
            named[schema["name"]] = schema
            of = {field["name"]: field["type"] for field in schema["fields"]}
            parts = [
                (field.name, writer(field.dataType, of[field.name], f"{name}.{field.name}".strip("."), named))
                for field in kind.fields
            ]
            return lambda value: {name: convert(value[name]) for name, convert in parts}
        case T.ArrayType():
            item = writer(kind.elementType, schema["items"], name, named)
            return lambda value: [item(one) for one in value]
        case T.MapType():
            item = writer(kind.valueType, schema["values"], name, named)
            return lambda value: {key: item(one) for key, one in value}
        case T.TimestampNTZType() if schema["logicalType"] == "timestamp-millis":
            return lambda value: value.replace(tzinfo=UTC)
    return lambda value: value


def _refuse_null(name: str) -> Never:
    raise DataError(f"{name} is NOT NULL, and a row has NULL there", hint=f"COALESCE({name}, ...) AS {name}")
