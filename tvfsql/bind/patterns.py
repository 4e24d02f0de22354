"""Binds MATCH_RECOGNIZE: what its conditions and measures read of the rows of which variable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from tvfsql.bind import scalar
from tvfsql.bind.aggregate import Grouping
from tvfsql.bind.scalar import PlanColumn, Resolved
from tvfsql.bind.scope import Relation, Visible
from tvfsql.bind.spark_text.functions import is_proctime as is_proctime_call
from tvfsql.errors import BindError, Span, UnsupportedError, did_you_mean
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.analysis.properties import window_of
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Order, Project
from tvfsql.plan.patterns import (
    ALL,
    PAST_LAST,
    TO_FIRST,
    TO_NEXT,
    Condition,
    Navigation,
    Pattern,
    PatternMatch,
    Variable,
)
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.values.scalar import Scalar, column, free_name
from tvfsql.plan.values.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    UNKNOWN,
    SqlType,
    is_decimal,
    is_float,
    is_number,
    is_time,
)
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
MOST_OFFSET = 2**31 - 1
BETWEEN_ROWS = "comparisons, AND, OR, NOT, IS NULL, +, -, * and ABS, between LAST, FIRST, aggregates and A.x"


@dataclass(frozen=True)
class Place:
    """Rows that a name in an expression refers to: of a variable, or ALL, one of them, or with `every` all of them.
    `now`: it is the row that the variable may take."""

    variable: int
    first: bool = False
    offset: int = 0
    every: bool = False
    now: bool = False


def bind_match(table: ast.MatchTable, found: Relation, *, streaming: bool, by_sketch: bool) -> Relation:
    """The matches of MATCH_RECOGNIZE in the rows of a relation: the columns of PARTITION BY, then the measures."""
    clause = table.clause
    keys = tuple(dict.fromkeys(_column(each, found, "PARTITION BY").plan for each in clause.partition_by))
    time, order = _order(clause, found, streaming=streaming)
    binder = _Binder(found, _variables(clause), time, by_sketch)
    conditions = _conditions(clause, binder)
    skip_to = _skip_to(clause, binder.variables)
    measures = [(item, binder.measure(item)) for item in clause.measures]
    source: Node = found.node
    if binder.computed:
        kept = (Item(part.name, column(part.name, part.type)) for part in source.schema)
        source = Project(source, (*kept, *(Item(name, of) for of, name in binder.computed.items())))
    within = clause.within.ms if clause.within else None
    pattern = Pattern(binder.variables, conditions, tuple(binder.aggregates), within, clause.skip, skip_to)
    shown = tuple(f"{name.text} AS {expr}" for name, expr in clause.define)
    navigations = tuple(binder.navigations.values())
    if not (keys or navigations or binder.calls):
        raise BindError("MATCH_RECOGNIZE needs MEASURES or PARTITION BY", span=clause.span, hint="MEASURES A.x AS x")
    node: Node = PatternMatch(
        source, keys, time, order, pattern, navigations, tuple(binder.calls), shown=shown, span=clause.span
    )
    taken = [*keys]
    items = [Item(key, column(key, found.node.type_of(key))) for key in keys]
    names = {part.plan: part.name for part in found.visible}
    visible = [Visible("", names[key], key, found.node.type_of(key)) for key in keys]
    rowtime = None
    for item, made in measures:
        assert item.alias is not None
        name = free_name(item.alias.text, taken)
        taken.append(name)
        items.append(Item(name, made))
        visible.append(Visible("", item.alias.text, name, made.type))
        if made.column is not None and made.column == binder.rowtime:
            rowtime = rowtime or name
    return Relation(Project(node, tuple(items)), tuple(visible), rowtime)


def _column(expr: ast.Expr, found: Relation, clause: str) -> Visible:
    name = scalar.column_name(expr)
    if name is None:
        raise UnsupportedError(
            f"{clause} of MATCH_RECOGNIZE takes columns", span=expr.span, hint="compute it in a subquery in FROM"
        )
    return found.lookup(*name, expr.span)


def _order(clause: ast.MatchRecognize, found: Relation, *, streaming: bool) -> tuple[str, tuple[Order, ...]]:
    """The time that orders the rows, and the columns that order rows of one time."""
    first, *more = clause.order_by
    if is_proctime_call(first.expr.tree):
        _refuse_proctime(first.expr.span)
    time = _column(first.expr, found, "ORDER BY")
    if is_proctime(found.node, time.plan):
        _refuse_proctime(first.expr.span)
    window = window_of(found.node)
    attributes = (found.time, *window.times) if window else (found.time,)
    if not is_time(time.type) or (streaming and time.plan not in attributes):
        hint = f"ORDER BY {found.time}" if found.time else "WATERMARK FOR ts in CREATE TABLE"
        what = "a time attribute" if streaming else "a TIMESTAMP"
        raise BindError(f"ORDER BY of MATCH_RECOGNIZE begins with {what}", span=first.expr.span, hint=hint)
    if first.descending:
        raise UnsupportedError("the time in ORDER BY must rise", span=first.expr.span, hint=f"ORDER BY {time.name}")
    keys = [(_column(each.expr, found, "ORDER BY"), each) for each in more]
    return time.plan, tuple(
        Order(column(part.plan, part.type), each.descending, each.nulls_first) for part, each in keys
    )


def _refuse_proctime(span: Span) -> None:
    raise UnsupportedError("MATCH_RECOGNIZE does not work with processing time", span=span, hint="ORDER BY ts")


def _variables(clause: ast.MatchRecognize) -> tuple[Variable, ...]:
    """The variables of the pattern. Raises UnsupportedError for a pattern that Flink refuses too."""
    made = tuple(Variable(each.name.text, each.least, each.most, each.greedy) for each in clause.pattern)
    seen: set[str] = set()
    for each in clause.pattern:
        if each.name.text.lower() in seen:
            raise UnsupportedError(
                f"{each.name.text} stands twice in the pattern", span=each.span, hint="a variable of another name"
            )
        seen.add(each.name.text.lower())
    if all(each.least == 0 for each in made):
        raise UnsupportedError(
            "this pattern matches no row at all",
            span=Span(clause.pattern[0].span.start, clause.pattern[-1].span.end),
            hint="a variable without * or ?, such as A+ in place of A*",
        )
    if made[-1].holds_on:
        last = clause.pattern[-1]
        raise UnsupportedError(
            f"the last variable cannot be greedy: {made[-1]} would wait for a row that ends it",
            span=last.span,
            hint=f"{made[-1]}?, or a variable after it: ({made[-1]} X) with X AS NOT (...)",
        )
    for before, after, place in zip(made, made[1:], clause.pattern[1:], strict=False):
        if before.holds_on and after.least == 0:
            raise UnsupportedError(
                f"{after} can be empty and follows the greedy {before}",
                span=place.span,
                hint=f"{before}?, which is reluctant, or {after.name} with at least one row",
            )
    return made


def _skip_to(clause: ast.MatchRecognize, variables: Sequence[Variable]) -> int:
    if clause.skip_to is None:
        assert clause.skip in (PAST_LAST, TO_NEXT)
        return ALL
    found = _number(clause.skip_to, variables)
    always_first = found == 0 and (clause.skip == TO_FIRST or variables[0].most == 1) and variables[0].least > 0
    if always_first:
        raise BindError(
            f"SKIP {clause.skip.upper()} {clause.skip_to.text} would begin at the first row of the match again",
            span=clause.skip_to.span,
            hint="SKIP TO NEXT ROW",
        )
    return found


def _number(name: ast.Name, variables: Sequence[Variable]) -> int:
    names = [each.name.lower() for each in variables]
    if name.text.lower() not in names:
        hint = did_you_mean(name.text, [each.name for each in variables], otherwise="variables: ")
        raise BindError(f"the pattern has no variable {name.text}", span=name.span, hint=hint)
    return names.index(name.text.lower())


def _conditions(clause: ast.MatchRecognize, binder: _Binder) -> tuple[Condition | None, ...]:
    made: list[Condition | None] = [None] * len(binder.variables)
    defined: set[int] = set()
    for name, expr in clause.define:
        number = _number(name, binder.variables)
        if number in defined:
            raise BindError(f"{name.text} is defined twice", span=name.span, hint="leave one of them out")
        defined.add(number)
        made[number] = binder.condition(number, expr)
    return tuple(made)


@dataclass
class _Binder:
    """Binds the expressions of one clause. `computed` are expressions over single rows, with their columns;
    `navigations` and `calls` what measures read, `aggregates` those of conditions. `rowtime` is the column of
    MATCH_ROWTIME().
    """

    relation: Relation
    variables: tuple[Variable, ...]
    time: str
    by_sketch: bool
    computed: dict[Scalar, str] = field(default_factory=dict)
    navigations: dict[tuple[Place, str], Navigation] = field(default_factory=dict)
    calls: list[tuple[int, AggCall]] = field(default_factory=list)
    aggregates: list[tuple[str, int, str]] = field(default_factory=list)
    rowtime: str = ""
    read: dict[str, tuple[Place, str]] = field(default_factory=dict)  # by the name of a column in a bound expression
    taken: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.taken += self.relation.node.columns
        self.grouping = Grouping(self.relation, by_sketch=self.by_sketch)

    # ---- measures ------------------------------------------------------------------------------------

    def measure(self, item: ast.SelectItem) -> Scalar:
        """A measure over the columns of a match."""
        assert item.expr is not None
        found = self._resolved(item.expr, None)
        parts: dict[exp.Expr, exp.Expr] = {}
        types = dict(found.types)
        for call in scalar.aggregate_calls(found.tree, found.span):
            variable, made = self._call(call, found)
            self.calls.append((variable, made))
            parts[call.tree] = scalar.column_tree(made.name)
            types[made.name] = made.type
        tree = scalar.replace_parts(found.tree, parts)
        for name, _ in scalar.columns_of(tree):
            if name in self.read:
                place, plan = self.read[name]
                self.navigations.setdefault(
                    (place, plan), Navigation(name, plan, place.variable, place.first, place.offset)
                )
        return scalar.to_scalar(tree, types, found.span)

    def _call(self, call: scalar.Call, found: Resolved) -> tuple[int, AggCall]:
        """An aggregate over the rows of a variable, and the number of that."""
        span = scalar.place_of(call, found.span)
        if call.distinct or call.filter is not None:
            what = "DISTINCT" if call.distinct else "FILTER"
            raise UnsupportedError(f"{what} in MATCH_RECOGNIZE is not supported", span=span, hint="leave it out")
        variable = self._variable_of(call.tree, span)
        made = self.grouping._bind(call, found, None)
        if made.function == "SPARK":
            raise UnsupportedError("this aggregate does not work in MATCH_RECOGNIZE", span=span, hint="SUM(A.x)")
        names = {name: column(self.read[name][1]) for name in made.columns if name in self.read}
        made = replace(made.over(names), name=self._free(made.name))
        return variable, made

    def _variable_of(self, tree: exp.Expr, span: Span) -> int:
        """The variable whose rows an aggregate is over."""
        found = {self.read[name][0].variable for name, _ in scalar.columns_of(tree) if name in self.read}
        if len(found) > 1:
            raise BindError(
                "an aggregate is over the rows of one variable", span=span, hint="SUM(A.x * A.y), or SUM(x) of all rows"
            )
        return found.pop() if found else ALL

    # ---- conditions ----------------------------------------------------------------------------------

    def condition(self, number: int, expr: ast.Expr) -> Condition:
        """The condition of a variable."""
        found = self._resolved(expr, number)
        made, kind = self._condition(found.tree, found)
        if kind not in (BOOLEAN, UNKNOWN):
            name = self.variables[number].name
            raise BindError(
                f"DEFINE needs a condition, but this is {kind.flink}", span=expr.span, hint=f"{name} AS {name}.x > 1"
            )
        return made

    def _condition(self, tree: exp.Expr, found: Resolved) -> tuple[Condition, SqlType]:
        """The condition for an expression, and its type."""
        while isinstance(tree, exp.Paren):
            tree = tree.this
        places = {self.read[name][0] for name, _ in scalar.columns_of(tree) if name in self.read}
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
        variable, made = self._call(call, found)
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
        name = self._computed(made.renamed({name: self.read[name][1] for name in made.columns}))
        if place.now:
            return ("row", name), made.type
        return ("at", place.variable, place.first, place.offset, name), made.type

    def _computed(self, made: Scalar) -> str:
        """The column with the value of an expression of single rows."""
        if made.column is not None:
            return made.column
        if made not in self.computed:
            self.computed[made] = self._free("defined")
        return self.computed[made]

    # ---- names ---------------------------------------------------------------------------------------

    def _resolved(self, expr: ast.Expr, number: int | None) -> Resolved:
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
        read = {self.read[each][0].variable for each, _ in scalar.columns_of(inner) if each in self.read}
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
            known = self._free(f"{of}{'first_' if place.first else ''}{wanted}{where}")
            self.read[known] = place, plan
        made = PlanColumn(this=exp.to_identifier(known, quoted=True))
        optional = place.offset > 0 or (place.variable != ALL and self.variables[place.variable].least == 0)
        may_lack = not (place.now or place.every) and (optional or place.variable != ALL)
        made.meta[scalar.TYPE] = replace(kind, nullable=True) if may_lack and kind != UNKNOWN else kind
        return made

    def _free(self, wanted: str) -> str:
        name = free_name(wanted, self.taken)
        self.taken.append(name)
        return name


def _is_aggregate(node: exp.Expr) -> bool:
    found = next(scalar.aggregate_calls(node, Span(0, 0)), None)
    return found is not None and found.tree is node
