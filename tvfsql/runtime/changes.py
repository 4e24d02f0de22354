"""Rows that are changes: whether they come or go, and what is left of them all."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tvfsql.runtime.counters import counted
from tvfsql.runtime.expressions import column_of

COMES, GOES = ("+I", "+U"), ("-U", "-D")
TIMES = "$times"


def change_sign(op: str) -> Column:
    """1 where the column `op` (string) holds +I or +U, -1 where it holds -U or -D (bigint).

    The query fails with DataError at any other value, NULL included.
    """
    value = column_of(op)
    shown = F.coalesce(F.concat(F.lit("'"), value, F.lit("'")), F.lit("NULL"))
    unknown = F.raise_error(F.concat(F.lit(f"[TVFSQL_UNKNOWN_OP] {op}: "), shown))
    return F.when(value.isin(*COMES), 1).when(value.isin(*GOES), -1).otherwise(unknown).cast("bigint")


def applied_changes(changes: DataFrame, sign: str, table: str) -> DataFrame:
    """The rows that are left of all changes, without the column `sign` (1: the row comes, -1: it goes).

    A row that goes more often than it came is not there; such rows are counted as numRowsDeletedUnseen.
    """
    columns = [column_of(name) for name in changes.columns if name != sign]
    sums = changes.groupBy(*columns).agg(F.sum(column_of(sign)).alias(TIMES))
    times = column_of(TIMES)
    sums = counted(sums, f"numRowsDeletedUnseen ({table})", times < 0).where(times > 0)
    return sums.select(*columns, F.explode(F.sequence(F.lit(1), times)).alias(TIMES)).drop(TIMES)
