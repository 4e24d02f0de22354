"""Rows from messages in Avro, and messages from rows. A message is a zero byte, the number of its schema in a registry
(4 bytes), and a record: Confluent's wire format.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any, cast
from uuid import UUID

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from tvfsql.errors import DataError
from tvfsql.runtime.avro.registry import Registry
from tvfsql.runtime.avro.schemas import record_schema
from tvfsql.runtime.functions.of_rows import arrow_function

HINT = "pip install 'tvfsql[avro]', also for Spark's workers"
HEAD = struct.Struct(">bI")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Convert = Callable[[Any], Any]


def from_avro(message: Column, columns: str, *, url: str, login: Mapping[str, str] | None = None) -> Column:
    """A struct column with `columns` (Spark's DDL), read from a binary column of messages; NULL for a message that is
    NULL or empty.

    The registry is at `url`; `login` may have "basic-auth.user-info" (name:password) or "bearer-auth.token". Raises
    DataError, when it runs, for bytes that are no message, or whose fields have other types.
    """
    kind, registry = _columns(columns), _registry(url, login)
    return arrow_function(lambda messages: read(messages, kind, registry), kind)(message)  # type: ignore[no-any-return]


def to_avro(row: Column, columns: str, *, subject: str, url: str, login: Mapping[str, str] | None = None) -> Column:
    """A binary column of messages from a struct column with `columns` (Spark's DDL); NULL for NULL. Their schema is
    registered for `subject`; otherwise as `from_avro`.
    """
    kind, registry = _columns(columns), _registry(url, login)
    make = arrow_function(lambda rows: write(rows, kind, registry, subject), T.BinaryType())
    return make(row)  # type: ignore[no-any-return]


def read(messages: pa.Array, columns: T.StructType, registry: Registry) -> pa.Array:
    """A struct array from a binary array of messages. A field is found by its name; columns that a message lacks are
    NULL. Raises DataError.
    """
    convert, arrow = _reader(columns), to_arrow_type(columns, timezone="UTC")
    rows = [convert(_record(one, registry)) if one else None for one in messages.to_pylist()]
    try:
        return pa.array(rows, arrow)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise _misfit(rows, columns) from error


def write(rows: pa.Array, columns: T.StructType, registry: Registry, subject: str) -> pa.Array:
    """A binary array of messages from a struct array. Times have milliseconds."""
    import fastavro

    schema, convert = json.dumps(record_schema(columns)), _writer(columns)
    parsed, head = fastavro.parse_schema(json.loads(schema)), HEAD.pack(0, registry.number(subject, schema))
    made: list[bytes | None] = []
    for row in rows.to_pylist():
        out = BytesIO()
        if row is not None:
            fastavro.schemaless_writer(out, parsed, convert(row))
        made.append(None if row is None else head + out.getvalue())
    return pa.array(made, pa.binary())


def _columns(ddl: str) -> T.StructType:
    try:
        import fastavro  # noqa: F401
    except ImportError as error:
        raise DataError("the format avro-confluent needs the package fastavro", hint=HINT) from error
    return cast(T.StructType, T.StructType.fromDDL(ddl))


def _registry(url: str, login: Mapping[str, str] | None) -> Registry:
    given = login or {}
    return Registry(url, given.get("basic-auth.user-info", ""), given.get("bearer-auth.token", ""))


def _record(message: bytes, registry: Registry) -> dict[str, Any]:
    import fastavro

    if len(message) < HEAD.size or message[0] != 0:
        raise DataError(
            f"a message does not begin with the number of a schema: {message[:8].hex(' ')}",
            hint="was it written with a schema registry?",
        )
    number = HEAD.unpack_from(message)[1]
    schema = registry.schema(number)
    try:
        found = fastavro.schemaless_reader(BytesIO(message[HEAD.size :]), schema, None)
    except Exception as error:  # fastavro has no class of its own for bad bytes
        raise DataError(f"a message does not fit its schema {number}: {error!r}") from error
    if not isinstance(found, dict):
        raise DataError(f"schema {number} is not one of a record")
    return found


def _reader(kind: T.DataType) -> Convert:
    """A function that makes values of fastavro those that Arrow takes for a type. None stays None."""
    match kind:
        case T.StructType():
            parts = [(field.name, _reader(field.dataType)) for field in kind.fields]
            return lambda value: value and {name: convert(value.get(name)) for name, convert in parts}
        case T.ArrayType():
            item = _reader(kind.elementType)
            return lambda value: None if value is None else [item(one) for one in value]
        case T.MapType():
            item = _reader(kind.valueType)
            return lambda value: None if value is None else [(key, item(one)) for key, one in value.items()]
        case T.TimestampNTZType():
            return lambda value: _time(value).replace(tzinfo=None) if value is not None else None
        case T.TimestampType():
            return lambda value: _instant(_time(value)) if value is not None else None
        case T.StringType():
            return lambda value: str(value) if isinstance(value, UUID) else value
    return lambda value: value


def _time(value: Any) -> datetime:
    """A time of a field: of a logical type, or as a bare number of milliseconds."""
    if isinstance(value, datetime):
        return value
    if isinstance(value, int):
        return EPOCH + timedelta(milliseconds=value)
    raise DataError(f"{value!r} is not a time")


def _instant(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise DataError(f"{value} has no time zone", hint="declare its column as TIMESTAMP")
    return value


def _writer(kind: T.DataType) -> Convert:
    """The inverse of `_reader`."""
    match kind:
        case T.StructType():
            parts = [(field.name, _writer(field.dataType)) for field in kind.fields]
            return lambda value: value and {name: convert(value[name]) for name, convert in parts}
        case T.ArrayType():
            item = _writer(kind.elementType)
            return lambda value: None if value is None else [item(one) for one in value]
        case T.MapType():
            item = _writer(kind.valueType)
            return lambda value: None if value is None else {key: item(one) for key, one in value}
        case T.TimestampNTZType():
            return lambda value: None if value is None else value.replace(tzinfo=UTC)
    return lambda value: value


def _misfit(rows: list[Any], kind: T.StructType) -> DataError:
    """What is wrong with rows that do not fit the columns: the first column, and a value of it."""
    for field in kind.fields:
        for row in rows:
            try:
                pa.array([row and row[field.name]], to_arrow_type(field.dataType, timezone="UTC"))
            except (pa.ArrowException, TypeError, ValueError, OverflowError):
                shown = repr(row[field.name])
                return DataError(
                    f"{shown} in a message is no {field.dataType.simpleString().upper()}, the type of {field.name}"
                )
    return DataError("a message does not fit the columns")
