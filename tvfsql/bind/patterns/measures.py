"""Binds MEASURES: columns of the rows of a match, and aggregates over the rows of a variable."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from tvfsql.bind import scalar
from tvfsql.bind.aggregates.calls import Grouping
from tvfsql.bind.patterns.places import Place, Places
from tvfsql.bind.scalar import Resolved
from tvfsql.errors import BindError, Span, UnsupportedError
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.patterns import ALL, Navigation
from tvfsql.plan.values.scalar import Scalar, column
from tvfsql.syntax import ast


@dataclass
class Measures:
    """Binds the measures of one clause. `navigations` and `calls` are what they read."""

    places: Places
    by_sketch: bool
    navigations: dict[tuple[Place, str], Navigation] = field(default_factory=dict)
    calls: list[tuple[int, AggCall]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.grouping = Grouping(self.places.relation, by_sketch=self.by_sketch)

    def measure(self, item: ast.SelectItem) -> Scalar:
        """A measure over the columns of a match."""
        assert item.expr is not None
        found = self.places.resolved(item.expr, None)
        parts: dict[exp.Expr, exp.Expr] = {}
        types = dict(found.types)
        for call in scalar.aggregate_calls(found.tree, found.span):
            variable, made = self.call(call, found)
            self.calls.append((variable, made))
            parts[call.tree] = scalar.column_tree(made.name)
            types[made.name] = made.type
        tree = scalar.replace_parts(found.tree, parts)
        for name, _ in scalar.columns_of(tree):
            if name in self.places.read:
                place, plan = self.places.read[name]
                self.navigations.setdefault(
                    (place, plan), Navigation(name, plan, place.variable, place.first, place.offset)
                )
        return scalar.to_scalar(tree, types, found.span)

    def call(self, call: scalar.Call, found: Resolved) -> tuple[int, AggCall]:
        """An aggregate over the rows of a variable, and the number of that."""
        span = scalar.place_of(call, found.span)
        if call.distinct or call.filter is not None:
            what = "DISTINCT" if call.distinct else "FILTER"
            raise UnsupportedError(f"{what} in MATCH_RECOGNIZE is not supported", span=span, hint="leave it out")
        variable = self._variable_of(call.tree, span)
        made = self.grouping._bind(call, found, None)
        if made.function == "SPARK":
            raise UnsupportedError("this aggregate does not work in MATCH_RECOGNIZE", span=span, hint="SUM(A.x)")
        names = {name: column(self.places.read[name][1]) for name in made.columns if name in self.places.read}
        made = replace(made.over(names), name=self.places.free(made.name))
        return variable, made

    def _variable_of(self, tree: exp.Expr, span: Span) -> int:
        """The variable whose rows an aggregate is over."""
        found = {each.variable for each in self.places.of(tree)}
        if len(found) > 1:
            raise BindError(
                "an aggregate is over the rows of one variable", span=span, hint="SUM(A.x * A.y), or SUM(x) of all rows"
            )
        return found.pop() if found else ALL
