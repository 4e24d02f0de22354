"""Rows from messages in Avro whose schemas are in a registry, and messages from rows. A message is a zero byte, the
number of its schema in the registry (4 bytes), and a record: Confluent's wire format.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import types as T

from tvfsql.runtime.avro import records
from tvfsql.runtime.avro.registry import Registry
from tvfsql.runtime.avro.values import columns_of, reader
from tvfsql.runtime.functions.of_rows import arrow_function
from tvfsql.runtime.messages.rows import BadMessage, Read, Row, read_column

FORMAT = "avro-confluent"
HEAD = struct.Struct(">bI")


def from_avro(message: Column, columns: str, *, url: str, login: Mapping[str, str] | None = None) -> Column:
    """A struct column with `columns` (Spark's DDL), read from a binary column of messages; NULL for a message that is
    NULL or empty. It stands among the columns of Spark's source `kafka`.

    The registry is at `url`; `login` may have "basic-auth.user-info" (name:password) or "bearer-auth.token". Raises
    DataError, when it runs, for bytes that are not a message, or whose fields have other types.
    """
    kind, registry = columns_of(columns, FORMAT), _registry(url, login)
    return read_column(message, kind, message_reader(kind, registry))


def to_avro(
    row: Column, columns: str, *, schema: str, subject: str, url: str, login: Mapping[str, str] | None = None
) -> Column:
    """A binary column of messages from a struct column with `columns` (Spark's DDL); NULL for NULL. Their `schema`
    (JSON) is registered for `subject`; otherwise as `from_avro`.
    """
    kind, registry = columns_of(columns, FORMAT), _registry(url, login)
    make = arrow_function(lambda rows: write(rows, kind, schema, registry, subject), T.BinaryType())
    return make(row)  # type: ignore[no-any-return]


def message_reader(columns: T.StructType, registry: Registry) -> Read:
    """A function that reads one message. A field is found by its name; columns that a message lacks are NULL. It raises
    BadMessage, and DataError if the registry does not know a schema.
    """
    convert = reader(columns)

    def read(message: bytes) -> Row | None:
        return convert(_record(message, registry)) if message else None

    return read


def write(rows: pa.Array, columns: T.StructType, schema: str, registry: Registry, subject: str) -> pa.Array:
    """A binary array of messages from a struct array. Times have milliseconds."""
    return records.write(rows, columns, schema, HEAD.pack(0, registry.number(subject, schema)))


def _registry(url: str, login: Mapping[str, str] | None) -> Registry:
    given = login or {}
    return Registry(url, given.get("basic-auth.user-info", ""), given.get("bearer-auth.token", ""))


def _record(message: bytes, registry: Registry) -> Row:
    if len(message) < HEAD.size or message[0] != 0:
        start = message[:8].hex(" ")
        raise BadMessage(
            f"a message does not begin with the number of a schema: {start} (was it written with a schema registry?)"
        )
    number = HEAD.unpack_from(message)[1]
    return records.record(message[HEAD.size :], registry.schema(number), f"its schema {number}")
