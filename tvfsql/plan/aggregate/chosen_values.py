"""Merge kinds of values of which a result needs little: quantiles, the most frequent values, the number of values.

A bag is a list of struct<x, n>: the value x occurs n times. Bags are merged whole, because rows that come later move a
quantile. What a finished window keeps of its bag is decided here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Quantiles:
    """Of a bag, the entries that decide the values at some fractions of the rows in order, from 0 (least) to 1
    (greatest).

    What is left out is counted with the next greater value that is kept. So the kept entries are a bag with as many
    rows, and with the same quantiles. A quantile is interpolated between the two values around its place, or, at the
    fractions in `discrete`, the first value that so many of the rows do not exceed.

    With `results` a window has the quantiles themselves: a struct of doubles, named by `result_of`.
    """

    fractions: tuple[float, ...] = ()
    discrete: tuple[float, ...] = ()
    results: bool = False

    def __or__(self, other: Quantiles) -> Quantiles:
        """What both need."""
        fractions, discrete = {*self.fractions, *other.fractions}, {*self.discrete, *other.discrete}
        return replace(self, fractions=tuple(sorted(fractions)), discrete=tuple(sorted(discrete)))

    @property
    def shown(self) -> str:
        """The fractions, as a query writes them."""
        return ", ".join(f"{fraction:g}" for fraction in (*self.fractions, *self.discrete))

    def __str__(self) -> str:
        return f"quantiles[{self.shown}]"


@dataclass(frozen=True)
class MostFrequent:
    """Of a bag, the entry that occurs most often; of several such the least value."""

    def __str__(self) -> str:
        return "most_frequent"


@dataclass(frozen=True)
class Frequent:
    """Of a bag, the `kept` entries that occur most often. Slices and state have at most `tracked` entries, by the
    method of Misra and Gries (1982): where there are more, the numbers of all are reduced by that of the next one. So a
    number is too low by at most one (tracked + 1)th of the rows.
    """

    kept: int
    tracked: int

    @property
    def shown(self) -> str:
        """What a query writes."""
        return f"{self.kept}, {self.tracked}"

    def __str__(self) -> str:
        return f"frequent[{self.shown}]"


@dataclass(frozen=True)
class Counted:
    """Of lists of different values, how many different values they have together; with `total` also their sum.

    Partials of slices and state are the lists, those of finished windows struct<n: bigint[, total]>.
    """

    total: bool = False

    def __or__(self, other: Counted) -> Counted:
        """What both need."""
        return Counted(self.total or other.total)

    def __str__(self) -> str:
        return "counted_sum" if self.total else "counted"


ChosenValues = Quantiles | MostFrequent | Frequent


def result_of(fraction: float, *, discrete: bool = False) -> str:
    """The name of a quantile among the results of a window."""
    return f"{'disc' if discrete else 'p'}{fraction!r}"


def quantiles(*fractions: float, discrete: Sequence[float] = (), results: bool = False) -> Quantiles:
    """The same, as emitted programs write it."""
    return Quantiles(fractions, tuple(discrete), results)


def frequent(kept: int, tracked: int) -> Frequent:
    """The same, as emitted programs write it."""
    return Frequent(kept, tracked)


def most_frequent() -> MostFrequent:
    """The same, as emitted programs write it."""
    return MostFrequent()


def counted(*, total: bool = False) -> Counted:
    """The same, as emitted programs write it."""
    return Counted(total)
