"""Change messages of databases as Debezium and Canal write them, converted to one row per insert or delete.

A message that cannot be read or is incomplete fails the query with DataError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tvfsql.plan.tables.internal_columns import SIGN
from tvfsql.plan.values.types import shown
from tvfsql.runtime.frames.column_names import column_of

VALUE, CHANGES = "value", "$changes"
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
OF_NUMBERS = "declare a number of days as INT, of milliseconds as BIGINT, and compute the time from it"


def debezium_changes(
    messages: DataFrame,
    columns: Mapping[str, str],
    *,
    sign: str,
    schema_include: bool = False,
    metadata: Sequence[str] = (),
) -> DataFrame:
    """The changes in Debezium's messages: `before`, `after` and `op`, with `schema_include` inside a `payload`.

    In: `value`, the message (string or binary). NULL and empty messages, which mark deleted keys, are skipped.
    Out: `value` as a struct of `columns` (names and types), and `sign`: 1 for an insert, -1 for a delete. Other columns
    are unchanged. Reads (`r`) and creates (`c`) are inserts, deletes (`d`) are deletes, an update (`u`) is one of each.
    Each of `metadata` is a column `value.<key>`, the same for all rows of a message. An unreadable message fails the
    query with DataError.
    """
    row = _row(columns)
    about = "".join(f", {field}" for field in (_DEBEZIUM_FIELDS if metadata else ()))
    envelope = f"before {row}, after {row}, op STRING{about}"
    parsed = _parsed(messages, f"payload STRUCT<{envelope}>, schema STRING" if schema_include else envelope)
    if schema_include:
        if "schema" in metadata:
            parsed = parsed.withColumn(f"{VALUE}.schema", F.col(f"{VALUE}.schema"))
        parsed = parsed.withColumn(VALUE, F.col(f"{VALUE}.payload")).where(F.col(VALUE).isNotNull())
    elif "schema" in metadata:
        parsed = parsed.withColumn(f"{VALUE}.schema", F.lit(None).cast("string"))
    parsed = _told(parsed, _OF_DEBEZIUM, metadata)
    op = F.col(f"{VALUE}.op")
    replica = "the database must send whole rows; in Postgres: ALTER TABLE ... REPLICA IDENTITY FULL"
    before = F.coalesce(F.col(f"{VALUE}.before"), _refused(F.lit("a change lacks the row before it"), replica))
    after = F.coalesce(F.col(f"{VALUE}.after"), _refused(F.lit("a change lacks the row after it"), "is it Debezium's?"))
    envelope_hint = "the schema around messages: 'debezium-json.schema-include' = 'true' if they have one, else 'false'"
    unknown = F.concat(F.lit("a message has the op "), F.coalesce(op, F.lit("NULL")))
    changes = (
        F.when(op.isin("c", "r"), F.array(_change(after, 1)))
        .when(op == "u", F.array(_change(before, -1), _change(after, 1)))
        .when(op == "d", F.array(_change(before, -1)))
        .otherwise(_refused(unknown, envelope_hint))
    )
    return _rows(parsed, changes, columns, sign)


def canal_changes(
    messages: DataFrame,
    columns: Mapping[str, str],
    *,
    sign: str,
    database: str | None = None,
    table: str | None = None,
    metadata: Sequence[str] = (),
) -> DataFrame:
    """The changes in Canal's messages: `data`, a list of rows, `old`, the previous values that differ, and `type`.

    Columns and `metadata` are as in `debezium_changes`. `database` and `table` are patterns that match the whole name.
    Messages of other databases and tables are skipped, and so are messages without changes of rows.
    """
    row = _row(columns)
    schema = f"data ARRAY<{row}>, old ARRAY<{row}>, type STRING, database STRING, `table` STRING"
    about = "".join(f", {field}" for field in (_CANAL_FIELDS if metadata else ()))
    parsed = _told(_parsed(messages, schema + about), _OF_CANAL, metadata)
    for name, pattern in (("database", database), ("table", table)):
        if pattern is not None:
            parsed = parsed.where(F.col(f"{VALUE}.{name}").rlike(f"^(?:{pattern})$"))
    parsed = parsed.where(F.coalesce(~F.col(f"{VALUE}.type").isin(*NO_ROWS), F.lit(True)))
    kind = F.col(f"{VALUE}.type")
    lacking = _refused(F.concat(F.lit("a message lacks rows, of type "), kind), "is it Canal's?")
    data, old = (F.coalesce(F.col(f"{VALUE}.{name}"), lacking) for name in ("data", "old"))

    def updated(pair: Column) -> Column:
        now, then = pair.getField("data"), pair.getField("old")
        same = F.map_filter(now, lambda name, _: ~F.map_contains_key(then, name))
        return F.array(_change(F.map_concat(same, then), -1), _change(now, 1))

    both = F.arrays_zip(data.alias("data"), old.alias("old"))
    unknown = F.concat(F.lit("a message has the type "), F.coalesce(kind, F.lit("NULL")))
    changes = (
        F.when(kind == "INSERT", F.transform(data, lambda row: _change(row, 1)))
        .when(kind == "DELETE", F.transform(data, lambda row: _change(row, -1)))
        .when(kind == "UPDATE", F.flatten(F.transform(both, updated)))
        .otherwise(_refused(unknown, "INSERT, UPDATE and DELETE are known"))
    )
    return _rows(parsed, changes, columns, sign)


def _told(parsed: DataFrame, known: Mapping[str, str], metadata: Sequence[str]) -> DataFrame:
    """The messages with columns for their metadata; `known` is the SQL for each."""
    made = {f"{VALUE}.{key}": F.expr(known[key]) for key in metadata if key in known}
    return parsed.withColumns(made) if made else parsed


def _row(columns: Mapping[str, str]) -> str:
    """The type of a row: values by name, since a missing one differs from NULL. A number that becomes text goes through
    a DOUBLE, unless it is a VARIANT, which takes longer to read.
    """
    exact = any("DECIMAL" in kind for kind in columns.values())
    return f"MAP<STRING, {'VARIANT' if exact else 'STRING'}>"


def _parsed(messages: DataFrame, schema: str) -> DataFrame:
    text = column_of(VALUE).cast("string")
    there = messages.where(F.trim(text) != "")
    return there.withColumn(VALUE, F.from_json(text, schema, {"mode": "FAILFAST"}))


def _change(row: Column, by: int) -> Column:
    return F.struct(row.alias("row"), F.lit(by).cast("bigint").alias(SIGN))


def _rows(parsed: DataFrame, changes: Column, columns: Mapping[str, str], sign: str) -> DataFrame:
    """One row per change, with its values cast to their types."""
    each = parsed.withColumn(CHANGES, F.explode(changes))
    values = [_typed(column_of(CHANGES).getField("row"), name, kind).alias(name) for name, kind in columns.items()]
    row = F.struct(*values) if values else F.lit(None)
    return each.withColumns({VALUE: row, sign: column_of(CHANGES).getField(SIGN)}).drop(CHANGES)


def _typed(row: Column, name: str, kind: str) -> Column:
    text = F.try_element_at(row, F.lit(name)).cast("string")
    if kind.startswith(("ARRAY<", "MAP<", "STRUCT<")):
        return F.from_json(text, kind, {"mode": "FAILFAST"})
    if kind in DAY:
        wrong = F.concat(F.lit(f"{name} is no {shown(kind.lower())}: "), text)
        return F.when(text.rlike(DAY[kind]), text.cast(kind)).when(text.isNotNull(), _refused(wrong, OF_NUMBERS))
    return F.unbase64(text) if kind == "BINARY" else text.cast(kind)


def _refused(problem: Column, hint: str) -> Column:
    return F.raise_error(F.concat(F.lit("[TVFSQL_CHANGE] "), problem, F.lit(f" ({hint})")))
