"""The merge kinds: how partial aggregates of slices become the partial aggregate of a window.

| kind | partials | merged |
|---|---|---|
| sum | integers; decimals; floating numbers | exact, bigint; exact, decimal(38, s); double |
| min, max | anything with an order; struct<t, x>: the first, the last x by time | the same type |
| first, last | anything | the first or last value in the order of the rows, the same type |
| concat | lists | one list, in the order of the slices |
| distinct | lists of values, each once | their union, each value once |
| bag | lists of struct<x, n: bigint>: n occurrences of x, or -n fewer | each x once with the sum of its n, if not 0 |
| moments | struct<n: bigint, mean: double, m2: double> | the same |
| moments4 | the same with m3 and m4: the sums of the 3rd and 4th powers of deviations | the same |
| comoments | struct<n: bigint, a, b, aa, bb, ab: double>: means, sums of products of deviations | the same |
| bit_and, bit_or, bit_xor | integers | the same type |

A Python aggregate is a kind too: its partials are lists of rows, or accumulators, which it merges itself. So is
`TopRows`: its partials are lists of structs, of which it keeps those within its limit. `Quantiles`, `MostFrequent` and
`Frequent` are bags of which a window keeps only the entries that its result needs, and `Counted` are lists as for
`distinct`, of which a window has the number and the sum of the values. `Kll` and `DistinctSketch` merge
sketches in the bytes of Apache DataSketches.
A NULL partial is neutral, and the result of only NULLs is NULL (of `Counted` no values).
A kind is a function from a column to a `Partial`; adding one is adding a row to KINDS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import pyarrow as pa

from tvfsql.plan.aggregate.chosen_values import Counted, Frequent, MostFrequent, Quantiles
from tvfsql.plan.aggregate.sketches import DistinctSketch, Kll
from tvfsql.plan.aggregate.top_rows import TopRows
from tvfsql.runtime.merge.accumulators import Accumulators
from tvfsql.runtime.merge.bits import OPERATORS, Bits
from tvfsql.runtime.merge.chosen_values import OfFrequent, OfMostFrequent, OfQuantiles
from tvfsql.runtime.merge.exact_sums import ExactSum
from tvfsql.runtime.merge.lists import Bag, Concat, CountedValues, Distinct, Top
from tvfsql.runtime.merge.moments import CoMoments, FourMoments
from tvfsql.runtime.merge.ranges import Blocks, Partial
from tvfsql.runtime.merge.scans import Extreme, FloatSum, Moments, Nearest
from tvfsql.runtime.merge.sketches.distinct import DistinctSketches
from tvfsql.runtime.merge.sketches.kll import KllSketches
from tvfsql.runtime.udf import AggregateFunction

Merge = str | AggregateFunction | TopRows | Quantiles | MostFrequent | Frequent | Counted | Kll | DistinctSketch
Prepare = Callable[[str, pa.Array, Blocks], Partial]


def are_kinds(merges: Iterable[Merge]) -> bool:
    """Whether all merge kinds exist."""
    return all(not isinstance(kind, str) or kind in KINDS for kind in merges)


def has_results(kind: Merge) -> bool:
    """Whether finished windows have something else than merged partials, which results are made of."""
    return isinstance(kind, Quantiles | MostFrequent | Frequent | Counted | Kll)


def prepare(kind: Merge, name: str, column: pa.Array, blocks: Blocks) -> Partial:
    """The partial column `name`, ready to be merged over ranges of its rows."""
    if isinstance(kind, AggregateFunction):
        return Accumulators(kind, column, blocks)
    if isinstance(kind, TopRows):
        return Top(kind, column)
    if isinstance(kind, Quantiles):
        return OfQuantiles(kind, column)
    if isinstance(kind, MostFrequent):
        return OfMostFrequent(column)
    if isinstance(kind, Frequent):
        return OfFrequent(kind, column)
    if isinstance(kind, Counted):
        return CountedValues(kind, name, column)
    if isinstance(kind, Kll):
        return KllSketches(kind, name, column)
    if isinstance(kind, DistinctSketch):
        return DistinctSketches(kind, name, column, blocks)
    return KINDS[kind](name, column, blocks)


def _sum(name: str, column: pa.Array, blocks: Blocks) -> Partial:
    return FloatSum(column, blocks) if pa.types.is_floating(column.type) else ExactSum(name, column)


def _bits(kind: str, name: str, column: pa.Array, blocks: Blocks) -> Partial:
    return Bits(kind, column, blocks)


KINDS: Mapping[str, Prepare] = {
    "sum": _sum,
    "min": lambda name, column, blocks: Extreme(column, blocks, largest=False),
    "max": lambda name, column, blocks: Extreme(column, blocks, largest=True),
    "first": lambda name, column, blocks: Nearest(column, last=False),
    "last": lambda name, column, blocks: Nearest(column, last=True),
    "concat": lambda name, column, blocks: Concat(column),
    "distinct": lambda name, column, blocks: Distinct(column),
    "bag": lambda name, column, blocks: Bag(column),
    "moments": lambda name, column, blocks: Moments(column, blocks),
    "moments4": lambda name, column, blocks: FourMoments(column, blocks),
    "comoments": lambda name, column, blocks: CoMoments(column, blocks),
    **{kind: partial(_bits, kind) for kind in OPERATORS},
}
