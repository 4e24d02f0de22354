"""Rows and messages that cannot be read. As dead letters of a stream the query skips them, and a table receives them.

A query and its dead letters are two streams that read a source in the same way, so they agree on what can be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from tvfsql.plan.tables.internal_columns import TEXT
from tvfsql.plan.values.scalar import bare
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.host.bad_rows import SHOWN

DEAD_LETTERS = "numDeadLetters"
# Of each type, the condition that a time is in the years 1 to 9999; an instant may be a day outside them.
RANGES = {
    "DATE": "{0} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'",
    "TIMESTAMP_NTZ": "{0} BETWEEN TIMESTAMP_NTZ '0001-01-01 00:00:00' AND TIMESTAMP_NTZ '9999-12-31 23:59:59.999999'",
    "TIMESTAMP": "UNIX_MICROS({0}) BETWEEN -62135683200000000 AND 253402387199999999",
}

ENDS = {kind: pattern.partition(" BETWEEN ")[2].split(" AND ") for kind, pattern in RANGES.items()}


def readable(rows: DataFrame, text: str, *, name: str, times: Mapping[str, str] | None = None) -> DataFrame:
    """The rows that could be read: those for which the SQL expression `text` is NULL, and whose `times` (SQL, with
    their types) are in Flink's range. The query's progress reports the number of the others under `name`."""
    bad = _bad(text, times)
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


def forgiving(rows: DataFrame, text: str = "", *, times: Mapping[str, str] | None = None) -> DataFrame:
    """The rows of a table that ignores parse errors, as Flink does.

    `text` is SQL for the text of a row that Spark could not parse whole. If it is a JSON object, the values that could
    be parsed remain; if not, the row is skipped. `times` (SQL, with their types) outside Flink's range are NULL.
    """
    for path, kind in (times or {}).items():
        near = F.when(~_far(path, kind), F.expr(path))
        side, _, name = path.partition(".") if not path.startswith("`") else (path, "", "")
        made = F.col(side).withField(name, near) if name else near
        rows = rows.withColumn(bare(side), made)
    if not text:
        return rows
    parsed = F.expr(text).isNull() | F.json_object_keys(F.expr(text)).isNotNull()
    if "." not in text:  # Spark reads no file for its corrupt rows alone; what hash() gives it cannot know in advance
        value = next(name for name in rows.columns if name != TEXT)
        parsed &= F.hash(column_of(value)) % 2 < 2
    return rows.where(parsed).drop(TEXT)


def unreadable(
    rows: DataFrame,
    table: str,
    text: str,
    *,
    place: str,
    columns: Sequence[str],
    kinds: str,
    times: Mapping[str, str] | None = None,
) -> DataFrame:
    """The rows that could not be read, as table_name, place, text, error (strings) and read_at (timestamp).

    `place` is SQL for where a row was found. `columns` are SQL for the columns that the query reads: Spark must parse
    them here too, because only errors in them count. `kinds` lists the columns with their types, for the error.
    `times`: as in `readable`. The text of a row with such a time is what was read of it, as JSON.
    """
    parsed = rows.observe(f"parsed_{table}", *(F.count(F.expr(name)).alias(f"n{i}") for i, name in enumerate(columns)))
    read = F.to_json(F.struct(*map(F.expr, columns)))
    return parsed.where(_bad(text, times)).select(
        F.lit(table).alias("table_name"),
        F.expr(place).cast("string").alias("place"),
        F.coalesce(F.expr(text), read).alias("text"),
        F.lit(f"cannot be read as {kinds}").alias("error"),
        F.current_timestamp().alias("read_at"),
    )


def letters(rows: DataFrame, table: str, place: str, text: Column, error: Column) -> DataFrame:
    """The messages with an `error` (string; NULL: none) in the form of `unreadable`."""
    return rows.where(error.isNotNull()).select(
        F.lit(table).alias("table_name"),
        F.expr(place).cast("string").alias("place"),
        text.alias("text"),
        error.alias("error"),
        F.current_timestamp().alias("read_at"),
    )


def out_of_range(value: Column, kind: str) -> Column:
    """Whether a value of that type is a time outside the years 1 to 9999."""
    if kind not in RANGES:
        return F.lit(False)
    first, last = (F.expr(end) for end in ENDS[kind])
    number = F.unix_micros(value) if kind == "TIMESTAMP" else value
    return F.coalesce((number < first) | (number > last), F.lit(False))


def _bad(text: str, times: Mapping[str, str] | None) -> Column:
    """Whether a row cannot be read."""
    bad = F.expr(text).isNotNull()
    for path, kind in (times or {}).items():
        bad |= _far(path, kind)
    return bad


def _far(time: str, kind: str) -> Column:
    """Whether a time is outside the years 1 to 9999, which Flink has. An instant may be in them in any zone."""
    return F.coalesce(~F.expr(RANGES[kind].format(time)), F.lit(False))


# Counts of the rows that a query drops, so that no row is dropped silently.


@dataclass
class DroppedRows:
    """The counts of the queries that are built inside a block `counting_dropped`."""

    observed: list[tuple[str, Observation]] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """The counts by name, once the queries have ended. A count that no query has reported is left out."""
        found: dict[str, int] = {}
        for name, observation in self.observed:
            if observation._jo is not None:
                found[name] = found.get(name, 0) + int(observation.get["count"])
        return found


_current: ContextVar[DroppedRows | None] = ContextVar("dropped_rows", default=None)


@contextmanager
def counting_dropped() -> Iterator[DroppedRows]:
    """Queries that are built inside this block count the rows that they drop."""
    dropped = DroppedRows()
    before = _current.set(dropped)
    try:
        yield dropped
    finally:
        _current.reset(before)


def counted(rows: DataFrame, name: str, condition: Column) -> DataFrame:
    """The same rows. Inside a block `counting_dropped`, rows that meet the condition are counted under `name`."""
    dropped = _current.get()
    if dropped is None:
        return rows
    observation = Observation()
    dropped.observed.append((name, observation))
    return rows.observe(observation, F.count_if(condition).alias("count"))
