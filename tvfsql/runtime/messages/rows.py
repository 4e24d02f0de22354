"""Rows from messages, one after the other, so that a message that cannot be read is known by its place.

An error has one of two causes. What a decoder raises is the fault of its message: if the columns include TEXT, the
message is a row whose TEXT has its bytes, for the dead letters. DataError and MemoryError are the fault of the
surroundings, such as a registry that does not answer: the query stops, and reads the same messages when it runs again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tvfsql.errors import DataError
from tvfsql.plan.tables.internal_columns import TEXT
from tvfsql.runtime.functions.of_rows import arrow_function
from tvfsql.runtime.host.spark_versions import arrow_schema

Row = dict[str, Any]
Read = Callable[[bytes], Row | None]
Places = tuple[pa.Array, pa.Array, pa.Array]
SURROUNDINGS = (DataError, MemoryError)
SHOWN = 100  # how many characters of a value are shown
HINT = "on streams SET 'tvfsql.dead-letter' = 'TABLE' writes such messages to a table"


class BadMessage(Exception):
    """A message that cannot be read, and why."""


def cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def read_column(message: Column, columns: T.StructType, read: Read) -> Column:
    """A struct column from a column of messages, among the others of Spark's source `kafka`. Raises DataError, when it
    runs.
    """

    def over(messages: pa.Array, topics: pa.Array, partitions: pa.Array, offsets: pa.Array) -> pa.Array:
        return read_messages(messages, columns, read, (topics, partitions, offsets))

    places = (F.col("topic"), F.col("partition"), F.col("offset"))
    return arrow_function(over, columns)(message, *places)  # type: ignore[no-any-return]


def read_messages(messages: pa.Array, columns: T.StructType, read: Read, places: Places | None = None) -> pa.Array:
    """A struct array from a binary array; `places` are topics, partitions and offsets. Raises DataError for a message
    that cannot be read, unless the columns include TEXT, and what the surroundings raise.
    """
    arrow, tolerant = pa.struct(arrow_schema(columns)), TEXT in columns.names
    rows: list[Row | None] = []
    for i, message in enumerate(messages.to_pylist()):
        try:
            rows.append(None if message is None else read(message))
        except SURROUNDINGS:
            raise
        except Exception as error:
            if not tolerant:
                problem = (
                    str(error) if isinstance(error, BadMessage) else f"a message cannot be read: {cut(repr(error))}"
                )
                raise _placed(problem, i, places) from error
            rows.append({TEXT: message.hex()})
    try:
        return pa.array(rows, arrow)
    except SURROUNDINGS:
        raise
    except Exception:  # of the many that a conversion to Arrow raises
        return _each(rows, arrow, columns, messages, tolerant, places)


def _each(
    rows: list[Row | None],
    arrow: pa.DataType,
    columns: T.StructType,
    messages: pa.Array,
    tolerant: bool,
    places: Places | None,
) -> pa.Array:
    """The same rows, except those that do not fit the columns."""
    for i, row in enumerate(rows):
        try:
            pa.array([row], arrow)
        except SURROUNDINGS:
            raise
        except Exception as error:
            if not tolerant:
                raise _placed(_misfit(row, columns), i, places) from error
            rows[i] = {TEXT: messages[i].as_py().hex()}
    return pa.array(rows, arrow)


def _placed(problem: str, number: int, places: Places | None) -> DataError:
    if places is None:
        return DataError(problem)
    topic, partition, offset = (part[number].as_py() for part in places)
    return DataError(f"{problem}, at {topic}-{partition}@{offset}", hint=HINT)


def _misfit(row: Row | None, columns: T.StructType) -> str:
    """What is wrong with a row that does not fit the columns: the first such column, and its value."""
    for field in columns.fields:
        value = row and row.get(field.name)
        try:
            pa.array([value], arrow_schema(T.StructType([field])).field(0).type)
        except Exception:
            kind = field.dataType.simpleString().upper()
            return f"{cut(repr(value))} in a message is not {kind}, the type of {field.name}"
    return "a message does not fit the columns"
