"""Change messages of databases as Debezium and Canal write them, converted to one row per insert or delete.

A message that cannot be read or is incomplete fails the query with DataError, is skipped, or is a dead letter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tvfsql.plan.tables.internal_columns import ADDED, KINDS, SIGN, TEXT
from tvfsql.plan.values.spark_types import of_spark
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.frames.dead_letters import DEAD_LETTERS, counted, letters, out_of_range
from tvfsql.runtime.host.bad_rows import SHOWN

VALUE, CHANGES, CHANGE, MESSAGE, PROBLEM = "value", "$changes", "$change", TEXT, "$bad"
LOST = "lost"  # beside the fields of an envelope: whether there is none
NO_ROWS = ("CREATE", "ALTER", "CINDEX", "DINDEX")  # Canal's messages about a table's schema, without rows
# the text of a time, as in Flink: Spark alone takes the number 19000 for a year, and 12:30 for a time of today
DAY = {"DATE": r"^\d{4}-\d\d-\d\d$", "TIMESTAMP": r"^\d{4}-\d\d-\d\d", "TIMESTAMP_NTZ": r"^\d{4}-\d\d-\d\d"}
# The fields of a message that only its metadata is in, and the SQL for each metadata column.
_DEBEZIUM_FIELDS = "source MAP<STRING, STRING>", "ts_ms BIGINT"
_OF_DEBEZIUM = {
    "ingestion-timestamp": "timestamp_millis(value.ts_ms)",
    "source.timestamp": "timestamp_millis(CAST(try_element_at(value.source, 'ts_ms') AS BIGINT))",
    "source.database": "try_element_at(value.source, 'db')",
    "source.schema": "try_element_at(value.source, 'schema')",
    "source.table": "try_element_at(value.source, 'table')",
    "source.properties": "value.source",
}
_CANAL_FIELDS = "sqlType MAP<STRING, INT>", "pkNames ARRAY<STRING>", "ts BIGINT"
_OF_CANAL = {
    "database": "value.database",
    "table": "value.`table`",
    "sql-type": "value.sqlType",
    "pk-names": "value.pkNames",
    "ingestion-timestamp": "timestamp_millis(value.ts)",
}
# what tells an operation
_SIGNS = {op: 1 if op in ADDED else -1 for op in KINDS}
_KINDS = KINDS
_TELLING = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": TEXT}
AROUND = "the schema around messages: 'debezium-json.schema-include' = 'true' if they have one, else 'false'"
OF_NUMBERS = "declare a number of days as INT, of milliseconds as BIGINT, and compute the time from it"


class Problem(NamedTuple):
    """Why a message cannot be read: a condition, what it is, and a hint."""

    found: Column
    what: Column
    hint: str


@dataclass(frozen=True)
class Unread:
    """What becomes of messages that cannot be read. Without any of these they fail the query.

    `left_out`: they are left out, and counted under this name. `skipped`: so are those that are not changes, and values
    that cannot be read are NULL, as in Flink. `letters_of`: they alone are returned, as dead letters of that table that
    are found at `place` (SQL).
    """

    left_out: str = ""
    skipped: str = ""
    letters_of: str = ""
    place: str = ""

    @property
    def stops(self) -> bool:
        return not (self.left_out or self.skipped or self.letters_of)


STOP = Unread()


def debezium_changes(
    messages: DataFrame,
    columns: Mapping[str, str],
    *,
    sign: str,
    schema_include: bool = False,
    metadata: Sequence[str] = (),
    versions: bool = False,
    kinds: bool = False,
    unread: Unread = STOP,
) -> DataFrame:
    """The changes in Debezium's messages: `before`, `after` and `op`, with `schema_include` inside a `payload`.

    In: `value`, the message (string or binary). NULL and empty messages, which mark deleted keys, are skipped.
    Out: `value` as a struct of `columns` (names and types), and `sign`: 1 for an insert, -1 for a delete. Other columns
    are unchanged. Reads (`r`) and creates (`c`) are inserts, deletes (`d`) are deletes, an update (`u`) is one of each.
    Each of `metadata` is a column `value.<key>`, the same for all rows of a message. An unreadable message fails the
    query with DataError, unless `unread` says otherwise. With `versions` an update is its insert only. With `kinds` the
    column `sign` has the operation of each change: +I, -U, +U or -D.
    """
    sign_of = _KINDS if kinds else _SIGNS
    row = _row(columns)
    about = "".join(f", {field}" for field in (_DEBEZIUM_FIELDS if metadata else ()))
    envelope = f"before {row}, after {row}, op STRING{about}"
    schema = f"payload STRUCT<{envelope}>, schema STRING" if schema_include else envelope
    parsed = _parsed(messages, schema, unread)
    problems = _of_text(unread)
    if schema_include:
        if "schema" in metadata:
            parsed = parsed.withColumn(f"{VALUE}.schema", F.col(f"{VALUE}.schema"))
        told = F.coalesce(F.array_contains(F.json_object_keys(column_of(MESSAGE)), "payload"), F.lit(False))
        empty = F.col(f"{VALUE}.payload").isNull()
        if not unread.stops:  # a payload that cannot be read is empty too
            told &= F.col(f"{VALUE}.{TEXT}").isNull()
        parsed = parsed.where(~(empty & told))  # {"schema": null, "payload": null} is a message without a value
        within = [F.col(f"{VALUE}.payload.*"), empty.alias(LOST), *([] if unread.stops else [F.col(f"{VALUE}.{TEXT}")])]
        parsed = parsed.withColumn(VALUE, F.struct(*within))
        problems.append(Problem(F.col(f"{VALUE}.{LOST}"), F.lit("a message has no payload"), AROUND))
    elif "schema" in metadata:
        parsed = parsed.withColumn(f"{VALUE}.schema", F.lit(None).cast("string"))
    parsed = _told(parsed, _OF_DEBEZIUM, metadata, unread)
    op, before, after = (F.col(f"{VALUE}.{name}") for name in ("op", "before", "after"))
    if "source.timestamp" in metadata and not unread.stops:
        told = F.try_element_at(F.col(f"{VALUE}.source"), F.lit("ts_ms"))
        wrong = told.isNotNull() & F.col(f"`{VALUE}.source.timestamp`").isNull()
        problems.append(Problem(wrong, F.concat(F.lit("source.ts_ms is not a number: "), told), "is it Debezium's?"))
    replica = "the database must send whole rows; in Postgres: ALTER TABLE ... REPLICA IDENTITY FULL"
    problems += [
        Problem(
            ~F.coalesce(op.isin("c", "r", "u", "d"), F.lit(False)),
            F.concat(F.lit("a message has the op "), F.coalesce(op, F.lit("NULL"))),
            AROUND,
        ),
        Problem(
            op.isin(*(["d"] if versions else ["u", "d"])) & before.isNull(),
            F.lit("a change lacks the row before it"),
            replica,
        ),
        Problem(op.isin("c", "r", "u") & after.isNull(), F.lit("a change lacks the row after it"), "is it Debezium's?"),
    ]
    changes = (
        F.when(
            op == "u", F.array(*([] if versions else [_change(before, sign_of["-U"])]), _change(after, sign_of["+U"]))
        )
        .when(op == "d", F.array(_change(before, sign_of["-D"])))
        .otherwise(F.array(_change(after, sign_of["+I"])))
    )
    return _rows(parsed, changes, columns, sign, problems, unread)


def canal_changes(
    messages: DataFrame,
    columns: Mapping[str, str],
    *,
    sign: str,
    database: str | None = None,
    table: str | None = None,
    metadata: Sequence[str] = (),
    versions: bool = False,
    kinds: bool = False,
    position: str = "",
    unread: Unread = STOP,
) -> DataFrame:
    """The changes in Canal's messages: `data`, a list of rows, `old`, the previous values that differ, and `type`.

    Columns, `metadata`, `versions`, `kinds` and `unread` are as in `debezium_changes`. `database` and `table` are
    patterns that match the whole name. Messages of other databases and tables are skipped, and so are messages without
    changes of rows. `position` (int) is a column for the place of a change in its message.
    """
    sign_of = _KINDS if kinds else _SIGNS
    row = _row(columns)
    schema = f"data ARRAY<{row}>, old ARRAY<{row}>, type STRING, database STRING, `table` STRING"
    about = "".join(f", {field}" for field in (_CANAL_FIELDS if metadata else ()))
    parsed = _told(_parsed(messages, schema + about, unread), _OF_CANAL, metadata, unread)
    for name, pattern in (("database", database), ("table", table)):
        if pattern is not None:
            matches = F.col(f"{VALUE}.{name}").rlike(f"^(?:{pattern})$")
            parsed = parsed.where(matches if unread.stops else matches | F.col(f"{VALUE}.{TEXT}").isNotNull())
    parsed = parsed.where(F.coalesce(~F.col(f"{VALUE}.type").isin(*NO_ROWS), F.lit(True)))
    kind, data, old = (F.col(f"{VALUE}.{name}") for name in ("type", "data", "old"))
    lacking = F.concat(F.lit("a message lacks rows, of type "), kind)
    some = F.exists(data, lambda row: row.isNull())
    fewer = (kind == "UPDATE") & ((F.size(data) != F.size(old)) | F.exists(old, lambda row: row.isNull()))
    problems = [
        *_of_text(unread),
        Problem(
            ~F.coalesce(kind.isin("INSERT", "UPDATE", "DELETE"), F.lit(False)),
            F.concat(F.lit("a message has the type "), F.coalesce(kind, F.lit("NULL"))),
            "INSERT, UPDATE and DELETE are known",
        ),
        Problem(
            data.isNull() | ((kind == "UPDATE") & old.isNull()) | F.coalesce(some | fewer, F.lit(False)),
            lacking,
            "is it Canal's?",
        ),
    ]

    def updated(pair: Column) -> Column:
        now, then = pair.getField("data"), pair.getField("old")
        same = F.map_filter(now, lambda name, _: ~F.map_contains_key(then, name))
        before = [] if versions else [_change(F.map_concat(same, then), sign_of["-U"])]
        return F.array(*before, _change(now, sign_of["+U"]))

    both = F.arrays_zip(data.alias("data"), old.alias("old"))
    changes = (
        F.when(kind == "INSERT", F.transform(data, lambda row: _change(row, sign_of["+I"])))
        .when(kind == "DELETE", F.transform(data, lambda row: _change(row, sign_of["-D"])))
        .otherwise(F.flatten(F.transform(both, updated)))
    )
    return _rows(parsed, changes, columns, sign, problems, unread, position)


def _told(parsed: DataFrame, known: Mapping[str, str], metadata: Sequence[str], unread: Unread) -> DataFrame:
    """The messages with columns for their metadata; `known` is the SQL for each."""
    made = {f"{VALUE}.{key}": known[key] for key in metadata if key in known}
    if not unread.stops:
        made = {name: sql.replace("CAST(", "TRY_CAST(") for name, sql in made.items()}
    return parsed.withColumns({name: F.expr(sql) for name, sql in made.items()}) if made else parsed


def _row(columns: Mapping[str, str]) -> str:
    """The type of a row: values by name, since a missing one differs from NULL. A number that becomes text goes through
    a DOUBLE, unless it is a VARIANT, which takes longer to read.
    """
    exact = any("DECIMAL" in kind for kind in columns.values())
    return f"MAP<STRING, {'VARIANT' if exact else 'STRING'}>"


def _parsed(messages: DataFrame, schema: str, unread: Unread) -> DataFrame:
    """The messages as structs, and their text in MESSAGE. If a message that is not a JSON object of that kind does not
    fail the query, its struct has its text.
    """
    text = column_of(VALUE).cast("string")
    there = messages.where(F.trim(text) != "").withColumn(MESSAGE, text)
    options = {"mode": "FAILFAST"}
    if not unread.stops:
        schema, options = f"{schema}, `{TEXT}` STRING", {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": TEXT}
    return there.withColumn(VALUE, F.from_json(column_of(MESSAGE), schema, options))


def _of_text(unread: Unread) -> list[Problem]:
    """What the text of a message tells: Spark takes the first object of a list for it."""
    no_object = ~column_of(MESSAGE).rlike(r"^\s*\{")
    if not unread.stops:
        unparsed = F.col(f"{VALUE}.{TEXT}").isNotNull()
        # a field that is of another type is NULL where parse errors are ignored
        no_object |= unparsed & F.json_object_keys(column_of(MESSAGE)).isNull() if unread.skipped else unparsed
    return [Problem(no_object, F.lit("a message is not a JSON object of this format"), "is it of another format?")]


def _change(row: Column, by: int | str) -> Column:
    told = F.lit(by) if isinstance(by, str) else F.lit(by).cast("bigint")
    return F.struct(row.alias("row"), told.alias(SIGN))


def _rows(
    parsed: DataFrame,
    changes: Column,
    columns: Mapping[str, str],
    sign: str,
    problems: Sequence[Problem],
    unread: Unread,
    position: str = "",
) -> DataFrame:
    """One row per change, with its values cast to their types, and its `position` in its message."""
    checked = F.lit(None)
    for one in reversed(problems):
        told = _refused(one.what, one.hint) if unread.stops else F.concat(one.what, F.lit(f" ({one.hint})"))
        checked = F.when(one.found, told).otherwise(checked)
    if unread.stops:
        changes = F.coalesce(checked, changes)
    else:
        of_values = None if unread.skipped else _first_bad_value(changes, columns)
        problem = checked if of_values is None else F.coalesce(checked, of_values)
        parsed = parsed.withColumn(PROBLEM, problem.cast("string"))
        if unread.letters_of:
            return letters(parsed, unread.letters_of, unread.place, column_of(MESSAGE), column_of(PROBLEM))
        bad, name = column_of(PROBLEM).isNotNull(), unread.left_out or unread.skipped
        if parsed.isStreaming:
            parsed = parsed.observe(name, F.count_if(bad).alias(DEAD_LETTERS))
        else:
            parsed = counted(parsed, name, bad)
        parsed = parsed.where(~bad).drop(PROBLEM)
    # as a column first: Spark loses others where it explodes an expression over fields of a struct
    found = parsed.withColumn(CHANGES, changes).drop(MESSAGE)
    if position:
        each = found.select("*", F.posexplode(CHANGES).alias(position, CHANGE)).drop(CHANGES)
    else:
        each = found.withColumn(CHANGE, F.explode(CHANGES)).drop(CHANGES)
    typed = _typed if unread.stops else _if_typed
    values = [typed(column_of(CHANGE).getField("row"), name, kind).alias(name) for name, kind in columns.items()]
    row = F.struct(*values) if values else F.lit(None)
    return each.withColumns({VALUE: row, sign: column_of(CHANGE).getField(SIGN)}).drop(CHANGE)


def _first_bad_value(changes: Column, columns: Mapping[str, str]) -> Column | None:
    """What is wrong with the first value of a message that is not of its type; NULL: nothing."""
    typed = {name: kind for name, kind in columns.items() if kind != "STRING"}
    if not typed:
        return None

    def of_row(change: Column) -> Column:
        return F.coalesce(*(_wrong(change.getField("row"), name, kind) for name, kind in typed.items()))

    return F.get(F.filter(F.transform(changes, of_row), lambda wrong: wrong.isNotNull()), F.lit(0))


def _wrong(row: Column, name: str, kind: str) -> Column:
    """What is wrong with a value; NULL: nothing."""
    text, value = _text(row, name), _if_typed(row, name, kind)
    wrong = text.isNotNull() & (value.isNull() | out_of_range(value, kind))
    if of_spark(kind).parts:
        whole = F.from_json(F.concat(F.lit('{"v": '), text, F.lit("}")), f"v {kind}, `{TEXT}` STRING", _TELLING)
        wrong = text.isNotNull() & whole.getField(TEXT).isNotNull()
    hint = f" ({OF_NUMBERS})" if kind in DAY else ""
    what = F.concat(F.lit(f"{name} is not {of_spark(kind).flink}: "), F.left(text, F.lit(SHOWN)), F.lit(hint))
    return F.when(wrong, what)


def _text(row: Column, name: str) -> Column:
    return F.try_element_at(row, F.lit(name)).cast("string")


def _if_typed(row: Column, name: str, kind: str) -> Column:
    """A value, or NULL if it is not of its type."""
    text = _text(row, name)
    if of_spark(kind).parts:
        return F.from_json(text, kind, {"mode": "PERMISSIVE"})
    if kind in DAY:
        return F.when(text.rlike(DAY[kind]), text.try_cast(kind))
    return F.try_to_binary(text, F.lit("base64")) if kind == "BINARY" else text.try_cast(kind)


def _typed(row: Column, name: str, kind: str) -> Column:
    text = _text(row, name)
    if of_spark(kind).parts:
        return F.from_json(text, kind, {"mode": "FAILFAST"})
    if kind in DAY:
        wrong = F.concat(F.lit(f"{name} is not {of_spark(kind).flink}: "), text)
        return F.when(text.rlike(DAY[kind]), text.cast(kind)).when(text.isNotNull(), _refused(wrong, OF_NUMBERS))
    return F.unbase64(text) if kind == "BINARY" else text.cast(kind)


def _refused(problem: Column, hint: str) -> Column:
    return F.raise_error(F.concat(F.lit("[TVFSQL_CHANGE] "), problem, F.lit(f" ({hint})")))
