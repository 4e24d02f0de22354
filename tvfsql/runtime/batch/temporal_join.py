"""Temporal joins of a batch as a DataFrame operation: each row with the version that was valid at its time."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as F

from tvfsql.runtime.frames.column_names import column_of


def temporal_join(
    left: DataFrame,
    right: DataFrame,
    *,
    on: Sequence[tuple[str, str]],
    times: tuple[str, str],
    kind: str = "inner",
    null_safe: Sequence[str] = (),
    ties: Sequence[str] = (),
    sign: str = "",
) -> DataFrame:
    """TemporalJoin: each row of `left` with the last row of `right` that agrees in `on` and is not later.

    In: any columns; no name is on both sides. `on` lists pairs of columns of one type; NULL equals NULL if the left one
    is in `null_safe`. `times` are the columns with the times of both sides. Of several versions of one time the one
    that is greatest in `ties`, columns of `right`, counts. `kind` is inner or left.
    With `sign` a row of `right` in which that column is -1 is where the version before it ends.
    Out: the columns of both sides. With left, those of `right` are NULL in a row that has no version.

    The rows of both sides are sorted together by key and time, and each row of the left side takes the last version
    before it. So a key with many versions costs no more than their number, where a join on a range of times would pair
    each row with all versions of its key.
    """
    keys = [f"k{i}" for i in range(len(on))]
    known = [column_of(theirs).isNotNull() for mine, theirs in on if mine not in null_safe]
    for condition in known:
        right = right.where(condition)
    sides = (left, [mine for mine, _ in on], times[0], 1), (right, [theirs for _, theirs in on], times[1], 0)
    whole = {side: _struct(rows) for rows, _, _, side in sides}
    both = None
    for rows, of_side, time, side in sides:
        order = [column_of(name) if side == 0 else F.lit(None) for name in ties]
        part = rows.select(
            *(column_of(name).alias(key) for name, key in zip(of_side, keys, strict=True)),
            column_of(time).alias("at"),
            F.lit(side).alias("side"),
            *(column.alias(f"t{i}") for i, column in enumerate(order)),
            (whole[1] if side == 1 else F.lit(None)).alias("row"),
            (whole[0] if side == 0 else F.lit(None)).alias("version"),
        )
        both = part if both is None else both.union(part)
    assert both is not None
    in_order = Over.partitionBy(*keys).orderBy("at", "side", *(f"t{i}" for i in range(len(ties))))
    last = F.last("version", ignorenulls=True).over(in_order.rowsBetween(Over.unboundedPreceding, Over.currentRow))
    if sign:
        there = last.getField(f"c{right.columns.index(sign)}") == 1
        last = F.when(there, last)
    joined = both.withColumn("version", last).where("side = 1")
    if kind == "inner":
        joined = joined.where("version IS NOT NULL")
    return joined.select(*_fields("row", left), *_fields("version", right))


def _struct(rows: DataFrame) -> Column:
    return F.struct(*(column_of(name).alias(f"c{i}") for i, name in enumerate(rows.columns)))


def _fields(struct: str, rows: DataFrame) -> list[Column]:
    return [F.col(f"{struct}.c{i}").alias(name) for i, name in enumerate(rows.columns)]
