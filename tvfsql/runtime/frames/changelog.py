"""Changelogs: the sign of each change, and the table that results from all changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as F

from tvfsql.plan.tables.internal_columns import ADDED, KINDS, REMOVED, TIMES
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.frames.dead_letters import counted

FEED = {"insert": "+I", "update_preimage": "-U", "update_postimage": "+U", "delete": "-D"}
FEED_ADDED, FEED_REMOVED = ([kind for kind, op in FEED.items() if op in ops] for ops in (ADDED, REMOVED))


def change_sign(op: str, added: Sequence[str] = ADDED, removed: Sequence[str] = REMOVED) -> Column:
    """A bigint column: 1 where the column `op` (string) has one of the values that add a row, -1 where it has one of
    those that remove one.

    Any other value, including NULL, fails the query with DataError.
    """
    return _sign(op, added, removed)


def feed_sign(kind: str) -> Column:
    """A bigint column: 1 where the column `kind` (string) of a table's change feed is insert or update_postimage, -1
    where it is delete or update_preimage.

    Any other value, including NULL, fails the query with DataError. Source: the change data feed of Delta Lake, and
    Spark's `changes`.
    """
    return _sign(kind, FEED_ADDED, FEED_REMOVED)


def change_kind(op: str, codes: Mapping[str, str] = KINDS) -> Column:
    """A string column: the operation that the value of the column `op` stands for. Any other value fails the query, as
    in `change_sign`.
    """
    value = column_of(op)
    kinds = [F.when(value == code, kind) for code, kind in codes.items()]
    return F.coalesce(*kinds, _unknown(op))


def feed_kind(kind: str) -> Column:
    """A string column: the operation of a row in a table's change feed. It fails as `feed_sign` does."""
    return change_kind(kind, FEED)


def _sign(op: str, added: Sequence[str], removed: Sequence[str]) -> Column:
    value = column_of(op)
    return F.when(value.isin(*added), 1).when(value.isin(*removed), -1).otherwise(_unknown(op)).cast("bigint")


def _unknown(op: str) -> Column:
    """The error for a value that is no operation."""
    shown = F.coalesce(F.concat(F.lit("'"), column_of(op), F.lit("'")), F.lit("NULL"))
    return F.raise_error(F.concat(F.lit(f"[TVFSQL_UNKNOWN_OP] {op}: "), shown))


def applied_changes(changes: DataFrame, sign: str, table: str) -> DataFrame:
    """The rows that remain after all changes.

    In: any columns, and `sign` (bigint): 1 inserts the row, -1 deletes it. Out: the same columns without `sign`. A row
    with more deletes than inserts is not in the result; the excess is counted as numRowsDeletedUnseen.
    """
    columns = [column_of(name) for name in changes.columns if name != sign]
    sums = changes.groupBy(*columns).agg(F.sum(column_of(sign)).alias(TIMES))
    times = column_of(TIMES)
    sums = counted(sums, f"numRowsDeletedUnseen ({table})", times < 0).where(times > 0)
    return sums.select(*columns, F.explode(F.sequence(F.lit(1), times)).alias(TIMES)).drop(TIMES)


def last_rows(changes: DataFrame, keys: Sequence[str], *, ends: str, arrival: Sequence[str]) -> DataFrame:
    """The last row of each key, unless it has been deleted.

    In: any columns. A row in which `ends` (bigint) is -1 deletes that of its key; in all others it is 1. The last row
    is the greatest in the columns `arrival`, in order. Out: the columns except `ends` and `arrival`.
    """
    latest = Over.partitionBy(*map(column_of, keys)).orderBy(*(column_of(name).desc() for name in arrival))
    ranked = changes.withColumn(TIMES, F.row_number().over(latest))
    return ranked.where((column_of(TIMES) == 1) & (column_of(ends) == 1)).drop(TIMES, ends, *arrival)


def latest_messages(messages: DataFrame) -> DataFrame:
    """The last message of each key and partition, with the columns of Spark's source `kafka`. A key whose last message
    has no value is deleted, and has none.
    """
    last = F.max_by(F.struct(*messages.columns), "offset").alias("last")
    kept = messages.groupBy("topic", "partition", "key").agg(last).select("last.*")
    return kept.where("value IS NOT NULL")
