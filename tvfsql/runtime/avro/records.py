"""Rows from records in Avro, and records from rows: the bytes of a message are one record, without its schema."""

from __future__ import annotations

import json
import re
from io import BytesIO

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import types as T

from tvfsql.runtime.avro.limits import Limits, Schema
from tvfsql.runtime.avro.values import columns_of, reader, writer
from tvfsql.runtime.functions.of_rows import arrow_function
from tvfsql.runtime.messages.rows import BadMessage, Read, Row, read_column

FORMAT = "avro"
LIMITS: dict[int, Limits] = {}  # by the identity of the schema


def from_avro_record(message: Column, columns: str, *, schema: str) -> Column:
    """A struct column with `columns` (Spark's DDL), read from a binary column of records with `schema` (JSON); NULL for
    NULL. It stands among the columns of Spark's source `kafka`. Raises DataError, when it runs, for bytes that are not
    one record.
    """
    kind = columns_of(columns, FORMAT)
    return read_column(message, kind, record_reader(kind, schema))


def to_avro_record(row: Column, columns: str, *, schema: str) -> Column:
    """A binary column of records from a struct column; otherwise as `from_avro_record`. Raises DataError, when it runs,
    for a NULL where the schema has none.
    """
    kind = columns_of(columns, FORMAT)
    make = arrow_function(lambda rows: write(rows, kind, schema), T.BinaryType())
    return make(row)  # type: ignore[no-any-return]


def record_reader(columns: T.StructType, schema: str) -> Read:
    """A function that reads one message. It raises BadMessage."""
    import fastavro

    parsed, convert = fastavro.parse_schema(json.loads(schema)), reader(columns)

    def read(message: bytes) -> Row:
        return convert(record(message, parsed, "the schema of its table"))  # type: ignore[no-any-return]

    return read


def record(message: bytes, schema: Schema, called: str) -> Row:
    """The record that the bytes are. Raises BadMessage, also if they go on after it, or are beyond the limits."""
    import fastavro

    stream = BytesIO(message)
    _limits(schema).check(message)
    try:
        found = fastavro.schemaless_reader(stream, schema, None)
    except Exception as error:  # fastavro has no class of its own for bad bytes
        far = isinstance(error, (OverflowError, ValueError)) and re.search("out of range|magnitude|ordinal", str(error))
        what = "it has a time outside the years 1 to 9999" if far else repr(error)
        raise BadMessage(f"a message does not fit {called}: {what}") from error
    if (left := len(message) - stream.tell()) > 0:
        raise BadMessage(f"a message does not fit {called}: {left} bytes are left after its record")
    if not isinstance(found, dict):
        raise BadMessage(f"{called} is not one of a record")
    return found


def _limits(schema: Schema) -> Limits:
    """The limits of a schema, which a process keeps: schemas come from tables and registries, and are few."""
    found = LIMITS.get(id(schema))
    if found is None or found.schema is not schema:
        found = LIMITS[id(schema)] = Limits(schema)
    return found


def write(rows: pa.Array, columns: T.StructType, schema: str, head: bytes = b"") -> pa.Array:
    """A binary array of records from a struct array, each after `head`. Times have milliseconds."""
    import fastavro

    made = json.loads(schema)
    parsed, convert = fastavro.parse_schema(made), writer(columns, ["null", made])
    messages: list[bytes | None] = []
    for row in rows.to_pylist():
        out = BytesIO(head)
        out.seek(len(head))
        if row is not None:
            fastavro.schemaless_writer(out, parsed, convert(row))
        messages.append(None if row is None else out.getvalue())
    return pa.array(messages, pa.binary())
