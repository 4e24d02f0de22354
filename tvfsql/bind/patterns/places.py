"""What a name in an expression of MATCH_RECOGNIZE refers to: `A.x`, `x`, LAST(A.x, 1), MATCH_ROWTIME()."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from tvfsql.bind import scalar
from tvfsql.bind.scalar import PlanColumn, Resolved
from tvfsql.bind.scope import Relation
from tvfsql.errors import BindError, Span, UnsupportedError, did_you_mean
from tvfsql.plan.patterns import ALL, Variable
from tvfsql.plan.values.scalar import free_name
from tvfsql.plan.values.types import UNKNOWN, SqlType
from tvfsql.syntax import ast
from tvfsql.syntax.places import span_of

MOST_OFFSET = 2**31 - 1


@dataclass(frozen=True)
class Place:
    """Rows that a name in an expression refers to: of a variable, or ALL, one of them, or with `every` all of them.
    `now`: it is the row that the variable may take."""

    variable: int
    first: bool = False
    offset: int = 0
    every: bool = False
    now: bool = False


@dataclass
class Places:
    """The places that the expressions of one clause read. `read` has them by the names of columns in bound expressions;
    `rowtime` is the column of MATCH_ROWTIME().
    """

    relation: Relation
    variables: tuple[Variable, ...]
    time: str
    rowtime: str = ""
    read: dict[str, tuple[Place, str]] = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.taken += self.relation.node.columns

    def of(self, tree: exp.Expr) -> set[Place]:
        """The places that a bound expression reads."""
        return {self.read[name][0] for name, _ in scalar.columns_of(tree) if name in self.read}

    def resolved(self, expr: ast.Expr, number: int | None) -> Resolved:
        """An expression in which each column is that of a place (`read`). `number` is the variable that it defines."""
        return scalar.resolve(replace(expr, tree=self._placed(expr.tree, expr.span, number)), self._other)

    def _other(self, table: str | None, name: str, span: Span | None) -> tuple[str, SqlType]:
        raise AssertionError(name)

    def _placed(self, tree: exp.Expr, span: Span, number: int | None, at: Place | None = None) -> exp.Expr:
        """The tree with its columns as PlanColumns. `at` is the place that LAST, FIRST or an aggregate around says."""

        def placed(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
                return self._of(node, span_of(node, span), number, at)
            if isinstance(node, exp.Anonymous):
                return self._function(node, span_of(node, span), number, at)
            if at is None and isinstance(node, exp.Expr) and _is_aggregate(node):
                inner = node.copy()
                for key, value in node.args.items():
                    parts = value if isinstance(value, list) else [value]
                    made = [
                        self._placed(part, span, number, Place(ALL, every=True)) if isinstance(part, exp.Expr) else part
                        for part in parts
                    ]
                    inner.set(key, made if isinstance(value, list) else made[0])
                inner.meta.update(node.meta)
                return inner
            return node

        return tree.transform(placed)

    def _function(self, node: exp.Anonymous, span: Span, number: int | None, at: Place | None) -> exp.Expr:
        name = node.name.upper()
        if name in ("FIRST", "LAST"):
            return self._navigation(node, span, number, at)
        if name == "MATCH_ROWTIME":
            return self._match_time(node, span, number)
        others = {
            "PREV": "LAST(x, 1) is the row before in the match",
            "NEXT": "a variable for the next row",
            "CLASSIFIER": "COUNT(A.x) > 0 tells whether A has rows",
            "MATCH_NUMBER": None,
            "MATCH_PROCTIME": "MATCH_ROWTIME()",
        }
        if name in others:
            raise UnsupportedError(f"{name} is not supported", span=span, hint=others[name])
        return node

    def _navigation(self, node: exp.Anonymous, span: Span, number: int | None, at: Place | None) -> exp.Expr:
        name, arguments = node.name.upper(), node.expressions
        if at is not None:
            around = "an aggregate" if at.every else "another LAST or FIRST"
            raise BindError(f"{name} cannot stand within {around}", span=span, hint=f"{name}(A.x)")
        offset = 0
        if len(arguments) == 2:
            literal = arguments[1]
            known = isinstance(literal, exp.Literal) and literal.is_int and int(literal.name) <= MOST_OFFSET
            if not known:
                raise BindError(f"the second argument of {name} is a number of rows", span=span, hint=f"{name}(A.x, 1)")
            offset = int(literal.name)
        if len(arguments) not in (1, 2) or not any(arguments[0].find_all(exp.Column)):
            raise BindError(f"{name} takes a value of a row", span=span, hint=f"{name}(A.x) or {name}(A.x, 1)")
        if scalar.has_aggregate(arguments[0]):
            raise BindError(f"an aggregate cannot stand within {name}", span=span, hint=f"{name}(A.x)")
        place = Place(ALL, name == "FIRST", offset)
        inner = self._placed(arguments[0], span, number, place)
        read = {each.variable for each in self.of(inner)}
        if len(read) > 1:
            raise BindError(f"{name} reads one row, of one variable", span=span, hint=f"{name}(A.x * A.y)")
        return exp.paren(inner) if isinstance(inner, scalar.NOT_ATOMIC) else inner

    def _match_time(self, node: exp.Anonymous, span: Span, number: int | None) -> exp.Expr:
        if number is not None:
            raise BindError("MATCH_ROWTIME stands in MEASURES only", span=span, hint=f"LAST({self.time})")
        for argument in node.expressions:
            name = scalar.column_name(ast.Expr(argument, span))
            if name is None or self.relation.lookup(None, name[1], span).plan != self.time:
                raise BindError("MATCH_ROWTIME takes the time of ORDER BY", span=span, hint="MATCH_ROWTIME()")
        made = self._plan_column(Place(ALL), self.time, self.relation.node.type_of(self.time), "match_rowtime")
        self.rowtime = made.name
        return made

    def _of(self, node: exp.Column, span: Span, number: int | None, at: Place | None) -> exp.Expr:
        """A column of a place: `A.x`, `x`, and fields of rows."""
        parts = [part.name for part in node.parts]
        names = [each.name.lower() for each in self.variables]
        variable = ALL
        if len(parts) > 1 and parts[0].lower() in names:
            variable, parts = names.index(parts[0].lower()), parts[1:]
        elif len(parts) > 1 and not self.relation.matches(None, parts[0]):
            hint = did_you_mean(parts[0], [each.name for each in self.variables], otherwise="variables: ")
            raise BindError(f"the pattern has no variable {parts[0]}", span=span, hint=hint)
        found = self.relation.lookup(None, parts[0], span)
        place = replace(at or Place(ALL), variable=variable)
        if number is not None and not (place.every or place.first or place.offset) and variable in (ALL, number):
            place = Place(ALL, now=True)
        made: exp.Expr = self._plan_column(place, found.plan, found.type, found.plan)
        made.meta.update(node.this.meta)
        for part in parts[1:]:
            made = exp.Dot(this=made, expression=exp.to_identifier(part))
        return made

    def _plan_column(self, place: Place, plan: str, kind: SqlType, wanted: str) -> PlanColumn:
        known = next((name for name, of in self.read.items() if of == (place, plan)), None)
        if known is None:
            of = "" if place.variable == ALL else f"{self.variables[place.variable].name}_"
            where = f"_{place.offset}" if place.offset else ""
            known = self.free(f"{of}{'first_' if place.first else ''}{wanted}{where}")
            self.read[known] = place, plan
        made = PlanColumn(this=exp.to_identifier(known, quoted=True))
        optional = place.offset > 0 or (place.variable != ALL and self.variables[place.variable].least == 0)
        may_lack = not (place.now or place.every) and (optional or place.variable != ALL)
        made.meta[scalar.TYPE] = replace(kind, nullable=True) if may_lack and kind != UNKNOWN else kind
        return made

    def free(self, wanted: str) -> str:
        name = free_name(wanted, self.taken)
        self.taken.append(name)
        return name


def _is_aggregate(node: exp.Expr) -> bool:
    found = next(scalar.aggregate_calls(node, Span(0, 0)), None)
    return found is not None and found.tree is node
