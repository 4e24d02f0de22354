"""Paths through the graph of a pattern, and the rows that they read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tvfsql.plan.patterns import ALL
from tvfsql.runtime.arrow.columns import Ints, Mask

Bounds = NDArray[np.int64]  # for each variable, and the end, a row of numbers: one for each path
Numbers = NDArray[Any]  # int64, float64, or objects: the digits of decimals


def no_bounds(width: int) -> Bounds:
    """The bounds of no path, of a pattern with that many variables."""
    return np.zeros((width + 1, 0), dtype=np.int64)


def ranges_of(bounds: Bounds, variable: int) -> tuple[Ints, Ints]:
    """The rows [low, high) of a variable, or of ALL, in each path."""
    return (bounds[0], bounds[-1]) if variable == ALL else (bounds[variable], bounds[variable + 1])


@dataclass(frozen=True)
class Paths:
    """Paths in the order in which they were made.

    A path is one way of reading the rows after its first one. It is at a state of the graph, and a variable has the
    rows [bounds[v], bounds[v + 1]): rows of a match follow each other, so these numbers are all that a path is.
    `totals` are those of the aggregates so far, each with the number of its values.
    """

    states: Ints
    bounds: Bounds
    totals: tuple[tuple[Numbers, Ints], ...] = ()

    def __len__(self) -> int:
        return len(self.states)

    @property
    def starts(self) -> Ints:
        """The first row of each."""
        starts: Ints = self.bounds[0]
        return starts

    @property
    def next_rows(self) -> Ints:
        """The row that each takes next."""
        rows: Ints = self.bounds[-1]
        return rows

    def take(self, places: Ints | Mask) -> Paths:
        totals = tuple((total[places], count[places]) for total, count in self.totals)
        return Paths(self.states[places], self.bounds[:, places], totals)

    @classmethod
    def none(cls, width: int) -> Paths:
        return cls(np.zeros(0, dtype=np.int64), no_bounds(width))

    @classmethod
    def together(cls, parts: Sequence[Paths]) -> Paths:
        if len(parts) == 1:
            return parts[0]
        totals = tuple(
            (
                np.concatenate([part.totals[i][0] for part in parts]),
                np.concatenate([part.totals[i][1] for part in parts]),
            )
            for i in range(len(parts[0].totals))
        )
        bounds = np.concatenate([part.bounds for part in parts], axis=1)
        return cls(np.concatenate([part.states for part in parts]), bounds, totals)


@dataclass(frozen=True)
class Rows:
    """Rows by key and time. `micros` are their times, `first` says where a key begins, and `fresh` which rows have not
    been read before: for each key the last ones. `column` finds a column by its name."""

    column: Callable[[str], pa.Array]
    micros: Ints
    first: Mask
    fresh: Mask

    def __len__(self) -> int:
        return len(self.micros)

    @cached_property
    def keys(self) -> Ints:
        """The number of each row's key, from 0."""
        return np.cumsum(self.first, dtype=np.int64) - 1

    @cached_property
    def begins(self) -> Ints:
        """The first row of each key."""
        return np.flatnonzero(self.first)

    @cached_property
    def ends(self) -> Ints:
        """For each row the row behind the last one of its key."""
        return np.append(self.begins[1:], len(self))[self.keys]
