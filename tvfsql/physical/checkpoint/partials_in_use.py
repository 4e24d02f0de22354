"""How the operators above window aggregates use the partials: which of them one result is computed from, and which hold
rows for another operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tvfsql.physical.operators import Calc, StreamUnion
from tvfsql.physical.window_operators import StreamSliceMerge
from tvfsql.plan import nodes
from tvfsql.plan.analysis.sharing import Reused, shared_by
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Unnest
from tvfsql.plan.values.scalar import Scalar

Partial = tuple[int, str]  # the identity of a StreamSliceMerge, and the name of a partial
Origins = Mapping[str, frozenset[Partial]]  # the partials that columns are computed from; those from none are left out


@dataclass
class PartialsInUse:
    """`combined` are the sets of partials of one operator that an expression reads together. `rows` are the partials
    whose lists become rows again, so a window without them would lose rows.
    """

    combined: set[frozenset[Partial]] = field(default_factory=set)
    rows: set[Partial] = field(default_factory=set)
    made: dict[int, Origins] = field(default_factory=dict)

    @classmethod
    def of(cls, plans: Sequence[Node]) -> PartialsInUse:
        found = cls()
        for plan in (*plans, *shared_by(plans)):
            found._visit(plan)
        return found

    def together(self, operator: Node) -> tuple[tuple[str, ...], ...]:
        """The names of partials of an operator that are read together."""
        own = ({name for at, name in each if at == id(operator)} for each in self.combined)
        return tuple(sorted({tuple(sorted(names)) for names in own if len(names) > 1}))

    def _visit(self, node: Node) -> Origins:
        if id(node) not in self.made:
            self.made[id(node)] = self._origins(node)
        return self.made[id(node)]

    def _origins(self, node: Node) -> Origins:
        below = [self._visit(child) for child in node.children]
        match node:
            case StreamSliceMerge():
                return {name: frozenset([(id(node), name)]) for name, _ in node.merges}
            case Calc(_, items, conditions):
                for condition in conditions:
                    self._read(condition, below[0])
                made = {item.name: self._read(item.scalar, below[0]) for item in items}
                return made if items else below[0]
            case StreamUnion() | nodes.SetOperation():
                sides = [
                    [origins.get(name, frozenset()) for name in child.columns]
                    for child, origins in zip(node.children, below, strict=True)
                ]
                return {name: frozenset().union(*of) for name, *of in zip(node.columns, *sides, strict=False)}
            case Reused():
                return self._visit(node.of.plan)
            case nodes.SparkSql():  # its text may combine any of them
                self.combined.add(frozenset().union(*(each for origins in below for each in origins.values())))
            case Unnest():
                self.rows |= below[0].get(node.rows, frozenset())
        together: dict[str, frozenset[Partial]] = {}
        for name, partials in (pair for origins in below for pair in origins.items()):
            together[name] = together.get(name, frozenset()) | partials
        return together

    def _read(self, scalar: Scalar, below: Origins) -> frozenset[Partial]:
        read: frozenset[Partial] = frozenset().union(*(below.get(name, frozenset()) for name in scalar.columns))
        if len(read) > 1:
            self.combined.add(read)
        return read
