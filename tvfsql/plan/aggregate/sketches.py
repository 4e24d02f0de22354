"""Merge kinds of sketches: summaries of bounded size, in the bytes of Apache DataSketches, as Spark reads and writes
them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

K_LEAST, K_MOST = 8, 65535  # the sizes that KLL sketches have in Apache DataSketches and in Spark
TUPLE_MODES = ("sum", "min", "max", "alwaysone")  # in the order of their numbers in Spark's sketches


@dataclass(frozen=True)
class Kll:
    """KLL sketches of the size `k` (Karnin, Lang and Liberty, 2016), whose values are "double",
    "bigint" or "float". 0: the least size among those that are merged.

    Partials of single rows are values, or sketches that are merged; those of slices and windows are sketches. A sketch
    of at most `k` values has all of them. A finished window keeps of its sketch only what decides the values at some
    `fractions` of the rows in order; without any it keeps all. With `results` it has these values themselves, as a
    struct (`chosen_values.result_of`).
    """

    k: int
    values: str
    fractions: tuple[float, ...] = ()
    results: bool = False

    def __or__(self, other: Kll) -> Kll:
        """What both need."""
        return replace(self, fractions=tuple(sorted({*self.fractions, *other.fractions})))

    @property
    def shown(self) -> str:
        """The fractions, as a query writes them."""
        return ", ".join(f"{fraction:g}" for fraction in self.fractions)

    @property
    def kept(self) -> str:
        """What state has, whatever results need of it."""
        return f"kll[k={self.k}, {self.values}]"

    def __str__(self) -> str:
        return f"kll[k={self.k}, {self.values}{f', {self.shown}' if self.fractions else ''}]"


@dataclass(frozen=True)
class DistinctSketch:
    """Sketches of distinct values, of the family "hll" (HyperLogLog of 2^lg registers; 0: as many as the sketches that
    are merged have), "theta" (the 2^lg least hashes), "tuple_double" or "tuple_integer" (the same, each with a number
    that `mode` makes of the numbers of its value: sum, min, max or alwaysone), or "bitmap" (exact: 32,768 bits). They
    are united, or with `common` intersected.

    Partials of single rows are values, or sketches that are merged; those of slices and windows are sketches.
    """

    family: str
    lg: int
    mode: str = ""
    common: bool = False

    @property
    def kept(self) -> str:
        """What state has."""
        return str(self)

    def __str__(self) -> str:
        size = [str(self.lg)] if self.lg or self.family == "hll" else []
        shown = [*size, *filter(None, [self.mode]), *["common"] * self.common]
        return f"{self.family}[{', '.join(shown)}]" if shown else self.family


Sketch = Kll | DistinctSketch


def kll(k: int, values: str, *fractions: float, results: bool = False) -> Kll:
    """The same, as emitted programs write it."""
    return Kll(k, values, fractions, results)


def distinct_sketches(family: str, lg: int = 0, mode: str = "", *, common: bool = False) -> DistinctSketch:
    """The same, as emitted programs write it."""
    return DistinctSketch(family, lg, mode, common)


def rank_error(k: int) -> float:
    """The part of the rows by which the rank of a quantile may be off, with a probability of 99 %: the fit of Apache
    DataSketches."""
    return float(2.296 / k**0.9723)


def size_for(accuracy: int) -> int:
    """The least `k` for which ranks are off by at most one `accuracy`th of the rows; may be larger than K_MOST."""
    return max(K_LEAST, ceil(float((2.296 * accuracy) ** (1 / 0.9723))))
