"""Collects the columns that one operator computes for the operators above it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from tvfsql.plan.aggregate.columns import AggCall, PartialColumn
from tvfsql.plan.values.scalar import Scalar, column, free_name

Part = TypeVar("Part", AggCall, PartialColumn)


@dataclass
class Collector(Generic[Part]):
    """Collects aggregate calls or partials. Two that compute the same share one column. `taken` holds the names already
    in use, in lower case.
    """

    taken: set[str]
    parts: list[Part] = field(default_factory=list)

    def column(self, wanted: Part) -> Scalar:
        """Return the column that holds `wanted`, adding it if it is new. It gets its own name if that is free."""
        for known in self.parts:
            if replace(known, name=wanted.name) == wanted and known.type == wanted.type:
                return column(known.name, known.type)
        self.parts.append(replace(wanted, name=self.free(wanted.name)))
        return column(self.parts[-1].name, wanted.type)

    def free(self, wanted: str) -> str:
        """Return a free name like this one and mark it as taken."""
        name = free_name(wanted, lambda known: known.lower() in self.taken)
        self.taken.add(name.lower())
        return name
