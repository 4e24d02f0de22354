"""Rows and messages that cannot be read. As dead letters of a stream the query skips them, and a table receives them.

A query and its dead letters are two streams that read a source in the same way, so they agree on what can be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from tvfsql.plan.tables.internal_columns import TEXT
from tvfsql.plan.values.scalar import bare
from tvfsql.plan.values.spark_types import of_spark
from tvfsql.plan.values.types import Array, Map, Row, SqlType
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.host.bad_rows import SHOWN

DEAD_LETTERS = "numDeadLetters"
# The first and last time of Flink, of each type. Instants are compared by their number of microseconds.
ENDS = {
    "DATE": ("DATE '0001-01-01'", "DATE '9999-12-31'"),
    "TIMESTAMP_NTZ": ("TIMESTAMP_NTZ '0001-01-01 00:00:00'", "TIMESTAMP_NTZ '9999-12-31 23:59:59.999999'"),
    "TIMESTAMP": ("-62135596800000000L", "253402300799999999L"),
}
Times = Mapping[str, str]


def readable(rows: DataFrame, text: str, *, name: str, times: Times | None = None, zone: str = "UTC") -> DataFrame:
    """The rows that could be read: those for which the SQL expression `text` is NULL, and whose values that are or hold
    `times` (SQL, with their types) are in Flink's range: the years 1 to 9999, of an instant in UTC or in `zone`. The
    query's progress reports the number of the others under `name`."""
    bad = _bad(text, times, zone)
    kept = rows.observe(name, F.count_if(bad).alias(DEAD_LETTERS)).where(~bad)
    return kept.drop(TEXT)


def refuse_unreadable(messages: DataFrame, *sides: str, unread: Sequence[str] = ()) -> DataFrame:
    """The same messages of Kafka. If one could not be parsed, the query fails with a DataError that names its topic,
    partition and offset. `sides` are the parsed columns: structs whose `$text` is the text of such a message, and NULL
    otherwise. Those of which the query may read nothing are in `unread`: Spark would leave their check out with them.
    A condition has it in any case, but parses what is read as well a second time."""
    place = F.concat_ws("", F.lit("[TVFSQL_UNREADABLE] "), "topic", F.lit("-"), "partition", F.lit("@"), "offset")
    for side in (*sides, *unread):
        text = F.col(side).getField(TEXT)
        failed = F.raise_error(F.concat(place, F.lit(": "), F.left(text, F.lit(SHOWN))))
        if side in unread:
            messages = messages.where(F.when(text.isNull(), F.lit(True)).otherwise(failed.cast("boolean")))
        else:
            messages = messages.withColumn(side, F.when(text.isNull(), F.col(side)).otherwise(failed))
    return messages


def refuse_far_times(rows: DataFrame, place: str, *, times: Times, zone: str = "UTC", drops: str = "") -> DataFrame:
    """The same rows. One whose `times` are not in Flink's range fails the query with a DataError, which names the value
    and, by the SQL `place`, where it was found. If it is the one at `drops`, the row is dropped, and counted as one
    with a NULL. `times`, `zone`: as in `readable`."""
    for path, kind in times.items():
        if path == drops:
            far = out_of_range(F.expr(path), kind, zone)
            rows = counted(rows, f"numNullRowTimeRecordsDropped ({bare(path)})", far).where(~far)
            continue
        named = F.lit(f"[TVFSQL_FAR_TIME] {bare(path.removeprefix('value.').removeprefix('key.'))}: ")
        told = F.raise_error(F.concat(named, F.expr(path).cast("string"), F.lit(" in "), F.expr(place)))
        rows = rows.where(F.when(out_of_range(F.expr(path), kind, zone), told.cast("boolean")).otherwise(F.lit(True)))
    return rows


def forgiving(rows: DataFrame, text: str = "", *, times: Times | None = None, zone: str = "UTC") -> DataFrame:
    """The rows of a table that ignores parse errors, as Flink does.

    `text` is SQL for the text of a row that Spark could not parse whole. If it is a JSON object, the values that could
    be parsed remain; if not, the row is skipped. `times` outside Flink's range are NULL; `times`, `zone`: as in
    `readable`.
    """
    for path, kind in (times or {}).items():
        near = _near(F.expr(path), of_spark(kind), zone)
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
    times: Times | None = None,
    zone: str = "UTC",
) -> DataFrame:
    """The rows that could not be read, as table_name, place, text, error (strings) and read_at (timestamp).

    `place` is SQL for where a row was found. `columns` are SQL for the columns that the query reads: Spark must parse
    them here too, because only errors in them count. `kinds` lists the columns with their types, for the error.
    `times`, `zone`: as in `readable`. The text of a row with such a time is what was read of it, as JSON.
    """
    parsed = rows.observe(f"parsed_{table}", *(F.count(F.expr(name)).alias(f"n{i}") for i, name in enumerate(columns)))
    read = F.to_json(F.struct(*map(F.expr, columns)))
    return parsed.where(_bad(text, times, zone)).select(
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


def out_of_range(value: Column, kind: str, zone: str = "UTC") -> Column:
    """Whether a value of that type is or holds a time outside the years 1 to 9999, which Flink has; of an instant, in
    UTC and in `zone`."""
    return F.coalesce(_far_inside(value, of_spark(kind), zone), F.lit(False))


def _bad(text: str, times: Times | None, zone: str) -> Column:
    """Whether a row cannot be read."""
    bad = F.expr(text).isNotNull()
    for path, kind in (times or {}).items():
        bad |= out_of_range(F.expr(path), kind, zone)
    return bad


def _far_inside(value: Column, kind: SqlType, zone: str) -> Column:
    """The same, or NULL."""
    match kind:
        case Row():
            parts = (_far_inside(value.getField(name), part, zone) for name, part in kind.fields)
            return reduce(Column.__or__, parts, F.lit(False))
        case Array():
            return F.exists(value, lambda each: _far_inside(each, kind.element, zone))
        case Map():
            keys, values = Array(kind.key), Array(kind.value)
            return _far_inside(F.map_keys(value), keys, zone) | _far_inside(F.map_values(value), values, zone)
    if kind.ddl not in ENDS:
        return F.lit(False)
    first, last = (F.expr(end) for end in ENDS[kind.ddl])
    if kind.ddl != "TIMESTAMP":
        return (value < first) | (value > last)
    far = ~F.unix_micros(value).between(first, last)
    return far if zone == "UTC" else far & ~F.unix_micros(F.from_utc_timestamp(value, zone)).between(first, last)


def _near(value: Column, kind: SqlType, zone: str) -> Column:
    """A value with NULL for each time of other years."""
    match kind:
        case Row():
            parts = (_near(value.getField(name), part, zone).alias(name) for name, part in kind.fields)
            return F.when(value.isNotNull(), F.struct(*parts))
        case Array():
            return F.transform(value, lambda each: _near(each, kind.element, zone))
        case Map():
            return F.transform_values(value, lambda _, each: _near(each, kind.value, zone))
    return F.when(~out_of_range(value, kind.ddl, zone), value) if kind.ddl in ENDS else value


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
