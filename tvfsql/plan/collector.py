"""Columns that one operator computes for those above it, gathered while expressions are taken apart."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from tvfsql.plan.nodes import AggCall
from tvfsql.plan.scalar import Scalar, column, free_name
from tvfsql.plan.window_nodes import PartialColumn

Part = TypeVar("Part", AggCall, PartialColumn)


@dataclass
class Collector(Generic[Part]):
    """Aggregate calls, or partials of such: two that compute the same are one column. Names are not among `taken`, in
    lower case."""

    taken: set[str]
    parts: list[Part] = field(default_factory=list)

    def column(self, wanted: Part) -> Scalar:
        """The column that holds it: of its name, if that is free."""
        for known in self.parts:
            if replace(known, name=wanted.name) == wanted and known.type == wanted.type:
                return column(known.name, known.type)
        self.parts.append(replace(wanted, name=self.free(wanted.name)))
        return column(self.parts[-1].name, wanted.type)

    def free(self, wanted: str) -> str:
        """A name like this one that nothing has; from now on it is taken."""
        name = free_name(wanted, lambda known: known.lower() in self.taken)
        self.taken.add(name.lower())
        return name
