"""Binds DEFINE. What reads one row is a column that Spark computes; what compares rows is a tree that the matcher
computes (`plan.patterns.Condition`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from tvfsql.bind import scalar
from tvfsql.bind.patterns.measures import Measures
from tvfsql.bind.patterns.places import Place, Places
from tvfsql.bind.scalar import Resolved
from tvfsql.errors import BindError, Span, UnsupportedError
from tvfsql.plan.patterns import ALL, Condition
from tvfsql.plan.values.scalar import Scalar
from tvfsql.plan.values.types import BIGINT, BOOLEAN, DOUBLE, UNKNOWN, SqlType, is_decimal, is_float, is_number
from tvfsql.syntax import ast
from tvfsql.syntax.places import span_of

# Nodes that are NULL if a part of them is.
STRICT = (
    exp.Column, exp.Literal, exp.Boolean, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Add, exp.Sub, exp.Mul,
    exp.Neg, exp.Paren, exp.Interval, exp.Between, exp.Var, exp.Identifier, exp.Abs, exp.Upper, exp.Lower, exp.Cast,
    exp.DataType, exp.Dot, exp.Not, exp.Div, exp.Mod,
)  # fmt: skip
COMPARED = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
ARITHMETIC = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
CONNECTED = {exp.And: "and", exp.Or: "or"}
IN_CONDITIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX")
BETWEEN_ROWS = "comparisons, AND, OR, NOT, IS NULL, +, -, * and ABS, between LAST, FIRST, aggregates and A.x"


@dataclass
class Conditions:
    """Binds the conditions of one clause. `computed` are expressions over single rows, with their columns, `aggregates`
    those of conditions.
    """

    places: Places
    measures: Measures
    computed: dict[Scalar, str] = field(default_factory=dict)
    aggregates: list[tuple[str, int, str]] = field(default_factory=list)

    def condition(self, number: int, expr: ast.Expr) -> Condition:
        """The condition of a variable."""
        found = self.places.resolved(expr, number)
        made, kind = self._condition(found.tree, found)
        if kind not in (BOOLEAN, UNKNOWN):
            name = self.places.variables[number].name
            raise BindError(
                f"DEFINE needs a condition, but this is {kind.flink}", span=expr.span, hint=f"{name} AS {name}.x > 1"
            )
        return made

    def _condition(self, tree: exp.Expr, found: Resolved) -> tuple[Condition, SqlType]:
        """The condition for an expression, and its type."""
        while isinstance(tree, exp.Paren):
            tree = tree.this
        places = self.places.of(tree)
        whole = next(scalar.aggregate_calls(tree, found.span), None)
        if whole is None and len(places) <= 1 and not any(each.every for each in places):
            place = places.pop() if places else Place(ALL, now=True)
            if place.now or all(isinstance(node, STRICT) for node in tree.walk()):
                return self._of_row(place, tree, found)
        span = span_of(tree, found.span)
        if whole is not None and whole.tree is tree:
            return self._aggregate(whole, found)
        match tree:
            case exp.And() | exp.Or():
                sides = [self._condition(side, found)[0] for side in (tree.left, tree.right)]
                return (CONNECTED[type(tree)], *sides), BOOLEAN
            case exp.Not():
                return ("not", self._condition(tree.this, found)[0]), BOOLEAN
            case exp.Is() if isinstance(tree.expression, exp.Null):
                return ("null", self._condition(tree.this, found)[0]), BOOLEAN
            case exp.Between() if not tree.args.get("symmetric"):
                low = exp.GTE(this=tree.this.copy(), expression=tree.args["low"].copy())
                high = exp.LTE(this=tree.this.copy(), expression=tree.args["high"].copy())
                return ("and", self._condition(low, found)[0], self._condition(high, found)[0]), BOOLEAN
            case exp.Neg() | exp.Abs():
                of, kind = self._condition(tree.this, found)
                return ("neg" if isinstance(tree, exp.Neg) else "abs", of), kind
        if type(tree) in COMPARED or type(tree) in ARITHMETIC:
            return self._binary(tree, found, span)
        raise UnsupportedError(
            "this condition reads several rows, and is not computed row by row", span=span, hint=BETWEEN_ROWS
        )

    def _binary(self, tree: exp.Expr, found: Resolved, span: Span) -> tuple[Condition, SqlType]:
        """A comparison or arithmetic between values of different rows."""
        assert isinstance(tree, exp.Binary)
        (left, one), (right, other) = self._condition(tree.left, found), self._condition(tree.right, found)
        compares = type(tree) in COMPARED
        numbers = is_number(one) and is_number(other)
        kind: SqlType = one
        if numbers and (is_float(one) or is_float(other)):
            left, right, kind = ("double", left), ("double", right), DOUBLE
        elif numbers:
            kind = one if is_decimal(one) else other if is_decimal(other) else BIGINT
        elif not compares or one != other or UNKNOWN in (one, other):
            raise UnsupportedError(
                f"{one.flink} and {other.flink} of different rows cannot be computed with each other",
                span=span,
                hint="CAST both to one type; a time with an INTERVAL: A.ts < LAST(B.ts) + INTERVAL '1' HOUR",
            )
        if isinstance(tree, exp.Div) and kind != DOUBLE:
            raise UnsupportedError(
                "values of different rows are divided as DOUBLE only", span=span, hint="CAST(A.x AS DOUBLE) / B.x"
            )
        word = COMPARED.get(type(tree)) or ARITHMETIC[type(tree)]
        return (word, left, right), BOOLEAN if compares else kind

    def _aggregate(self, call: scalar.Call, found: Resolved) -> tuple[Condition, SqlType]:
        """An aggregate in a condition."""
        variable, made = self.measures.call(call, found)
        of = made.arguments[0].type if made.arguments else UNKNOWN
        if made.function not in IN_CONDITIONS or (made.function != "COUNT" and not is_number(of)):
            raise UnsupportedError(
                f"{made.function} is not supported in DEFINE",
                span=made.span,
                hint="COUNT, SUM, AVG, MIN or MAX of a number",
            )
        name = "" if call.star else self._computed(made.arguments[0])
        one = made.function, variable, name
        if one not in self.aggregates:
            self.aggregates.append(one)
        return ("aggregate", self.aggregates.index(one)), made.type

    def _of_row(self, place: Place, tree: exp.Expr, found: Resolved) -> tuple[Condition, SqlType]:
        """An expression of one row."""
        made = scalar.to_scalar(tree, found.types, span_of(tree, found.span))
        if not made.columns and isinstance(tree, exp.Literal) and (not tree.is_string and tree.name.isdigit()):
            return ("literal", int(tree.name)), made.type
        name = self._computed(made.renamed({name: self.places.read[name][1] for name in made.columns}))
        if place.now:
            return ("row", name), made.type
        return ("at", place.variable, place.first, place.offset, name), made.type

    def _computed(self, made: Scalar) -> str:
        """The column with the value of an expression of single rows."""
        if made.column is not None:
            return made.column
        if made not in self.computed:
            self.computed[made] = self.places.free("defined")
        return self.computed[made]
