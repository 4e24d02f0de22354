"""Change messages as Flink's formats debezium-json and canal-json write them: each is of one row that comes or goes."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from tvfsql.plan.tables.internal_columns import ADDED
from tvfsql.plan.values.spark_types import of_spark
from tvfsql.plan.values.types import Array, Map, Row, SqlType, Timestamp, TimestampLtz
from tvfsql.runtime.frames.column_names import column_of


def debezium_message(
    columns: Mapping[str, str], *, op: str = "", iso: bool = False, ignore_nulls: bool = False
) -> Column:
    """A string column: `{"before": ..., "after": ..., "op": ...}`, where `op` is `c` for a row that comes and `d` for
    one that goes.

    `columns` are those of the row, with their types, and `op` is the column of operations (+I, -U, +U, -D); "": all
    rows come. With `iso` times have a T before the time of day, and with `ignore_nulls` fields that are NULL are left
    out. Instants are in UTC.
    """
    row, added = _row(columns, iso), _added(op)
    before, after = F.when(~added, row), F.when(added, row)
    kind = F.when(added, "c").otherwise("d")
    return _json(F.struct(before.alias("before"), after.alias("after"), kind.alias("op")), ignore_nulls)


def canal_message(columns: Mapping[str, str], *, op: str = "", iso: bool = False, ignore_nulls: bool = False) -> Column:
    """A string column: `{"data": [...], "type": ...}`, where the type is INSERT for a row that comes and DELETE for one
    that goes. The arguments are those of `debezium_message`.
    """
    kind = F.when(_added(op), "INSERT").otherwise("DELETE")
    return _json(F.struct(F.array(_row(columns, iso)).alias("data"), kind.alias("type")), ignore_nulls)


def _json(message: Column, ignore_nulls: bool) -> Column:
    return F.to_json(message, {"ignoreNullFields": str(ignore_nulls).lower()})


def _added(op: str) -> Column:
    """Whether a row comes."""
    return column_of(op).isin(*ADDED) if op else F.lit(True)


def _row(columns: Mapping[str, str], iso: bool) -> Column:
    return F.struct(*(_shown(column_of(name), of_spark(kind), iso).alias(name) for name, kind in columns.items()))


def _shown(value: Column, kind: SqlType, iso: bool) -> Column:
    """A value as `to_json` is to write it: times are texts, without zeros at the end of their fraction."""
    match kind:
        case Timestamp():
            return _clock(value, iso)
        case TimestampLtz():
            utc = F.timestamp_add("MICROSECOND", F.unix_micros(value), F.expr("TIMESTAMP_NTZ '1970-01-01 00:00:00'"))
            return F.concat(_clock(utc, iso), F.lit("Z"))
        case Row(fields) if _has_times(kind):
            parts = (_shown(value.getField(name), part, iso).alias(name) for name, part in fields)
            return F.when(value.isNotNull(), F.struct(*parts))
        case Array(of) if _has_times(kind):
            return F.transform(value, lambda each: _shown(each, of, iso))
        case Map(_, of) if _has_times(kind):
            return F.transform_values(value, lambda _, each: _shown(each, of, iso))
    return value


def _clock(time: Column, iso: bool) -> Column:
    text = time.cast("string")
    return F.replace(text, F.lit(" "), F.lit("T")) if iso else text


def _has_times(kind: SqlType) -> bool:
    return any(isinstance(part, Timestamp | TimestampLtz) for part in kind.walk())
