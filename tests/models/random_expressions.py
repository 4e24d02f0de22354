"""Random expressions of a kind, over columns and constants, from templates: `{INT}` stands for any expression of that
kind, `{NUMBER}` and `{ANY}` for one of several kinds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tests.models.choices import Choices
from tests.models.expression_templates import AGGREGATES, CONSTANTS, GROUPS, TEMPLATES
from tests.models.random_tables import Column

DEPTH = 2
PLACE = re.compile(r"\{([A-Z].*?)\}")
CALL = re.compile(r"[A-Z_]+\((DISTINCT )?(\*|\{[A-Z]+\})\)")  # nothing but a call of an aggregate function


@dataclass(frozen=True)
class Expressions:
    """Expressions over some columns. `subquery` makes one that is a query of one value, if there can be any."""

    choices: Choices
    columns: Sequence[Column]
    subquery: Callable[[str], str] | None = None

    def present(self, kinds: Iterable[str]) -> list[str]:
        """Those of the kinds that a column has, twice, and the others."""
        kinds, found = [*kinds], {each.kind for each in self.columns}
        return [kind for kind in kinds if kind in found] + kinds

    def of(self, kind: str, depth: int = DEPTH) -> str:
        with self.choices.part():
            kind = self.choices.one(self.present(GROUPS[kind])) if kind in GROUPS else kind
            leaf = self.choices.below(3) == 0 or not depth or kind not in TEMPLATES
            return self._leaf(kind) if leaf else self._node(kind, depth)

    def condition(self) -> str:
        """A BOOLEAN that is not constant, if there is a column."""
        with self.choices.part():
            names = [f"({each.name} IS NOT NULL)" for each in self.columns]
            return self.choices.one(names or ["TRUE"]) if self.choices.below(4) == 0 else self._node("BOOLEAN", DEPTH)

    def aggregate(self, kind: str) -> str:
        with self.choices.part():
            template = self.choices.one(AGGREGATES[kind])
            call = self._filled(template, 1)
            if CALL.fullmatch(template) and self.choices.chance(5):
                return f"{call} FILTER (WHERE {self.of('BOOLEAN', 1)})"
            return call

    def _leaf(self, kind: str) -> str:
        names = [each.name for each in self.columns if each.kind == kind]
        if names and (not self.choices.chance(5) or kind not in CONSTANTS):
            return self.choices.one(names)
        if kind not in CONSTANTS:
            return f"CAST(NULL AS {kind})"
        return self.choices.one(CONSTANTS[kind])

    def _node(self, kind: str, depth: int) -> str:
        if self.subquery is not None and kind in AGGREGATES and self.choices.chance(7):
            return self.subquery(kind)
        return self._filled(self.choices.one(TEMPLATES[kind]), depth - 1)

    def _filled(self, template: str, depth: int) -> str:
        return PLACE.sub(lambda place: self.of(place[1], depth), template)
