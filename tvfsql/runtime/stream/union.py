"""Several streams on their way to one window operator."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tvfsql.runtime.stream.control import CHANNEL, CONTROL
from tvfsql.runtime.stream.valve import ALL


def union_streams(*sides: DataFrame) -> DataFrame:
    """UNION ALL of streams whose rows bring watermarks; the sides' channels stay apart.

    In: of each side the same columns in the same order, `$watermark`, `$control` and `$channel` as `with_watermarks`
    makes them. Out: the same, where `$channel` is never NULL and begins with the number of its side, `1/`, `2/` ...:
    these are the inputs of the operator that reads it (`Valve`). What was for all channels is for all of a side.
    """
    return reduce(DataFrame.union, (of_side(side, f"{i}/") for i, side in enumerate(sides, 1)))


def of_side(side: DataFrame, name: str) -> DataFrame:
    """The same rows, in channels whose names begin with `name`."""
    whole = F.when(F.col(CONTROL).isNotNull(), F.lit(ALL)).otherwise(F.lit(""))
    return side.withColumn(CHANNEL, F.concat(F.lit(name), F.coalesce(F.col(CHANNEL), whole)))
