"""UNION ALL of several streams that feed one operator."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tvfsql.plan.tables.internal_columns import CHANNEL, CONTROL
from tvfsql.runtime.stream.time.valve import ALL


def union_streams(*sides: DataFrame) -> DataFrame:
    """UNION ALL of streams with watermark columns. The channels of the sides stay separate.

    In: sides with the same columns in the same order, including the watermark columns of `with_watermarks`.
    Out: the same columns. `$channel` is never NULL and starts with the number of its side: `1/`, `2/` ... These
    prefixes are the operator's inputs (`Valve`). A message for all channels becomes a message for all channels of its
    side.
    """
    return reduce(DataFrame.union, (of_side(side, f"{i}/") for i, side in enumerate(sides, 1)))


def of_side(side: DataFrame, name: str) -> DataFrame:
    """The same rows, with `name` prefixed to their channels."""
    whole = F.when(F.col(CONTROL).isNotNull(), F.lit(ALL)).otherwise(F.lit(""))
    return side.withColumn(CHANNEL, F.concat(F.lit(name), F.coalesce(F.col(CHANNEL), whole)))
