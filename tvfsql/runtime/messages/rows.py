"""Rows from messages, one after the other, so that a message that cannot be read is known by its place.

If the columns include TEXT, such a message is a row whose TEXT has its bytes, for the dead letters.
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
UNFIT = (pa.ArrowException, TypeError, ValueError, OverflowError)
HINT = "on streams SET 'tvfsql.dead-letter' = 'TABLE' writes such messages to a table"


class BadMessage(Exception):
    """A message that cannot be read, and why."""


def read_column(message: Column, columns: T.StructType, read: Read) -> Column:
    """A struct column from a column of messages, among the others of Spark's source `kafka`. Raises DataError, when it
    runs.
    """

    def over(messages: pa.Array, topics: pa.Array, partitions: pa.Array, offsets: pa.Array) -> pa.Array:
        return read_messages(messages, columns, read, (topics, partitions, offsets))

    places = (F.col("topic"), F.col("partition"), F.col("offset"))
    return arrow_function(over, columns)(message, *places)  # type: ignore[no-any-return]


def read_messages(
    messages: pa.Array, columns: T.StructType, read: Read, places: tuple[pa.Array, pa.Array, pa.Array] | None = None
) -> pa.Array:
    """A struct array from a binary array; `places` are topics, partitions and offsets. Raises DataError."""
    arrow, tolerant = pa.struct(arrow_schema(columns)), TEXT in columns.names
    rows: list[Row | None] = []
    for i, message in enumerate(messages.to_pylist()):
        try:
            rows.append(None if message is None else read(message))
        except BadMessage as error:
            if not tolerant:
                raise _placed(str(error), i, places) from error
            rows.append({TEXT: message.hex()})
    try:
        return pa.array(rows, arrow)
    except UNFIT:
        pass
    for i, row in enumerate(rows):  # one of them does not fit the columns
        try:
            pa.array([row], arrow)
        except UNFIT as error:
            if not tolerant:
                raise _placed(_misfit(row, columns), i, places) from error
            rows[i] = {TEXT: messages[i].as_py().hex()}
    return pa.array(rows, arrow)


def _placed(problem: str, number: int, places: tuple[pa.Array, pa.Array, pa.Array] | None) -> DataError:
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
        except UNFIT:
            return f"{value!r} in a message is no {field.dataType.simpleString().upper()}, the type of {field.name}"
    return "a message does not fit the columns"
