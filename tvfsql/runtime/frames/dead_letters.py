"""Rows and messages that cannot be read. As dead letters of a stream the query skips them, and a table receives them.

A query and its dead letters are two streams that read a source in the same way, so they agree on what can be read.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tvfsql.plan.tables.internal_columns import TEXT
from tvfsql.runtime.host.bad_rows import SHOWN

DEAD_LETTERS = "numDeadLetters"


def readable(rows: DataFrame, text: str, *, name: str) -> DataFrame:
    """The rows that could be read: those for which the SQL expression `text` is NULL. The query's progress reports the
    number of the others under `name`."""
    bad = F.expr(text).isNotNull()
    kept = rows.observe(name, F.count_if(bad).alias(DEAD_LETTERS)).where(~bad)
    return kept.drop(TEXT)


def refuse_unreadable(messages: DataFrame, *sides: str) -> DataFrame:
    """The same messages of Kafka. If the query reads one that could not be parsed, it fails with a DataError that names
    its topic, partition and offset. `sides` are the parsed columns: structs whose `$text` is the text of such a
    message, and NULL otherwise."""
    place = F.concat_ws("", F.lit("[TVFSQL_UNREADABLE] "), "topic", F.lit("-"), "partition", F.lit("@"), "offset")
    for side in sides:
        text = F.col(side).getField(TEXT)
        failed = F.raise_error(F.concat(place, F.lit(": "), F.left(text, F.lit(SHOWN))))
        messages = messages.withColumn(side, F.when(text.isNull(), F.col(side)).otherwise(failed))
    return messages


def unreadable(rows: DataFrame, table: str, text: str, *, place: str, columns: Sequence[str], kinds: str) -> DataFrame:
    """The rows that could not be read, as table_name, place, text, error (strings) and read_at (timestamp).

    `place` is SQL for where a row was found. `columns` are SQL for the columns that the query reads: Spark must parse
    them here too, because only errors in them count. `kinds` lists the columns with their types, for the error.
    """
    parsed = rows.observe(f"parsed_{table}", *(F.count(F.expr(name)).alias(f"n{i}") for i, name in enumerate(columns)))
    return parsed.where(F.expr(text).isNotNull()).select(
        F.lit(table).alias("table_name"),
        F.expr(place).cast("string").alias("place"),
        F.expr(text).alias("text"),
        F.lit(f"cannot be read as {kinds}").alias("error"),
        F.current_timestamp().alias("read_at"),
    )
