"""GROUP BY and aggregates: the expressions of a SELECT over the columns of an Aggregate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from tvfsql.bind import scalar
from tvfsql.bind.aggregates.grouping_sets import GroupingSets
from tvfsql.bind.aggregates.spelled import respelled
from tvfsql.bind.flink.beyond import note_argument
from tvfsql.bind.flink.function import require_text
from tvfsql.bind.flink.functions.arguments import NO_TEXT, family_of
from tvfsql.bind.flink.operators.cast_pairs import has_cast
from tvfsql.bind.flink.refused_aggregates import no_separator, no_text
from tvfsql.bind.flink.refused_operands import require_known_argument
from tvfsql.bind.scalar import Call, Resolved
from tvfsql.bind.scope import Relation
from tvfsql.bind.spark_text.functions import check_functions
from tvfsql.bind.user_function_calls import check_arguments
from tvfsql.bind.windows.gaps import Gaps, gap_calls
from tvfsql.errors import BindError, Span, UnsupportedError, from_to, wrong_number
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.aggregate.function import Accepts, AggregateFunction
from tvfsql.plan.aggregate.lists import LISTS
from tvfsql.plan.aggregate.percentiles import of_chosen
from tvfsql.plan.aggregate.sketched import ESTIMATE, USUAL_LG, of_sketch
from tvfsql.plan.aggregate.sketches import DistinctSketch, Sketch
from tvfsql.plan.aggregate.table import AGGREGATES, of_best
from tvfsql.plan.aggregate.top_rows import TopRows
from tvfsql.plan.gaps import FILLS
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Aggregate, Item, Order, Project
from tvfsql.plan.values.scalar import Scalar, column, free_name, text
from tvfsql.plan.values.types import DOUBLE, STRING, UNKNOWN, Interval, SqlType
from tvfsql.plan.values.user_function import UserFunction

EVENT_TIME = ("FIRST_VALUE", "LAST_VALUE", "LISTAGG", "COLLECT", "COLLECT_LIST", "ARRAY_AGG")


@dataclass
class Grouping:
    """Collects the keys and calls of one SELECT. Afterwards `node` is its Aggregate, and `over` rewrites an expression
    over it. `above` has columns, with their types, that other operators will add to the Aggregate. `by_sketch`:
    APPROX_COUNT_DISTINCT is computed by sketches.
    """

    relation: Relation
    above: Mapping[str, SqlType] = field(default_factory=dict)
    by_sketch: bool = False
    keys: list[str] = field(default_factory=list)
    computed: list[Item] = field(default_factory=list)
    calls: list[AggCall] = field(default_factory=list)
    parts: dict[exp.Expr, exp.Expr] = field(default_factory=dict)
    sets: GroupingSets = field(default_factory=GroupingSets)
    gaps: Gaps = field(init=False)

    def __post_init__(self) -> None:
        self.gaps = Gaps.of(self.relation.node)

    def add_key(self, key: Resolved, wanted: str | None) -> str:
        """Group by an expression and return the key's column. If it is more than a column, it is named `wanted`."""
        if scalar.has_aggregate(key.tree):
            raise BindError(
                "aggregates are not allowed in GROUP BY", span=key.span, hint="aggregate in a subquery first"
            )
        if key.tree in self.parts:  # a key of several grouping sets
            return str(self.parts[key.tree].name)
        made = key.scalar()
        name = made.column
        if name is None:
            name = free_name(wanted or "key", self._taken)
            self.computed.append(Item(name, made))
        if name not in self.keys:
            self.keys.append(name)
        self.parts[key.tree] = scalar.column_tree(name)
        return name

    def add_sets(self, sets: Sequence[Sequence[str]]) -> None:
        """Group by each of several sets of the keys. Must be called after all keys and before all calls."""
        self.sets = GroupingSets.of(sets, free_name("$e", self._taken))

    def add_calls(self, expression: Resolved, wanted: str | None) -> None:
        """Collect the aggregates of an expression. If the whole expression is one aggregate, it is named `wanted`."""
        expression = self._with_fills(expression, wanted)
        self.gaps.bare.update(self._add_aggregates(expression, wanted))

    def _with_fills(self, expression: Resolved, wanted: str | None) -> Resolved:
        """Collect the calls of LOCF and INTERPOLATE in an expression. Returns it with their columns in their place."""
        made: dict[exp.Expr, exp.Expr] = {}
        for call in gap_calls(expression.tree):
            if call not in self.parts:
                value = self.gaps.argument(call, expression)
                self._add_aggregates(value, None)
                whole = call == expression.tree.unnest()
                name = free_name(wanted if whole and wanted else call.name.lower(), self._taken)
                self.gaps.values.append((name, value, FILLS[call.name.upper()]))
                self.parts[call] = scalar.column_tree(name)
            made[call] = self.parts[call]
        return replace(expression, tree=scalar.replace_parts(expression.tree, made)) if made else expression

    def _add_aggregates(self, expression: Resolved, wanted: str | None) -> set[str]:
        """The columns of the aggregates of an expression."""
        found = set()
        for call in scalar.aggregate_calls(expression.tree, expression.span):
            if call.tree in self.parts:
                found.add(str(self.parts[call.tree].name))
                continue
            if scalar.is_grouping(call.tree):
                span = scalar.place_of(call, expression.span)
                self.parts[call.tree] = self.sets.value(call.tree, self.parts, span)
                continue
            whole = wanted if call.tree == expression.tree.unnest() else None
            bound = self._bind(call, expression, whole)
            self.calls.append(bound)
            self.parts[call.tree] = scalar.column_tree(bound.name)
            found.add(bound.name)
        return found

    def over(self, expression: Resolved) -> Scalar:
        """The expression over the Aggregate's columns. Raises BindError for a column that is not grouped."""
        return self._over(expression, self.node)

    def _over(self, expression: Resolved, node: Node) -> Scalar:
        tree = scalar.replace_parts(expression.tree, self.parts)
        check_functions(tree, expression.span)  # first, because an unknown aggregate also looks like a missing column
        types = {**{part.name: part.type for part in node.schema}, **self.above}
        for name, span in scalar.columns_of(tree):
            if name not in types:
                missing = self._spelled(name)
                raise BindError(
                    f"column {missing} must be in GROUP BY or inside an aggregate",
                    span=span if span.end else expression.span,
                    hint=f"GROUP BY {', '.join([*map(self._spelled, self.keys), missing])}",
                )
        return scalar.to_scalar(tree, types, expression.span)

    def condition(self, expression: Resolved) -> Scalar:
        """Return a condition of HAVING. Raises BindError if it is not a condition, or reads a column that is not
        grouped.
        """
        return scalar.checked(self.over(expression), expression, "HAVING")

    def _spelled(self, plan: str) -> str:
        """The spelling in the query of a column of the plan, or of a computed key."""
        for item in self.computed:
            if item.name == plan:
                return item.scalar.sql
        for part in self.relation.visible:
            if part.plan == plan and len(self.relation.matches(None, part.name)) == 1:
                return part.name
            if part.plan == plan and part.qualifier:
                return f"{part.qualifier}.{part.name}"
        return plan

    @property
    def first_place(self) -> Span | None:
        """The span of the first call; None without calls."""
        return next((call.span for call in self.calls), None)

    @property
    def node(self) -> Node:
        """The Aggregate; with FILL above it the operator that adds the windows without rows."""
        if not self.gaps.wanted:
            return self.aggregate
        made = self.aggregate
        return self.gaps.over(made, lambda value: self._over(value, made), several_sets=self.sets.id_needed)

    @property
    def aggregate(self) -> Aggregate:
        source: Node = self.gaps.source
        copies, calls = self._copies(), tuple(self.calls)
        if self.computed or copies:
            kept = tuple(Item(part.name, column(part.name, part.type)) for part in source.schema)
            source = Project(source, (*kept, *self.computed, *copies))
            calls = tuple(call.over({copy.scalar.column or "": column(copy.name) for copy in copies}) for call in calls)
        keys = (*self.keys, self.sets.id) if self.sets.id_needed else tuple(self.keys)
        return Aggregate(self.sets.expanded(source), keys, calls)

    def _copies(self) -> tuple[Item, ...]:
        """Copies of columns that calls read and that grouping sets turn to NULL: an aggregate must see the values of
        all rows.
        """
        read = {name for call in self.calls for name in call.columns}
        made: list[Item] = []
        for key in self.sets.keys:
            if key in read:
                taken = [item.name.lower() for item in made]
                name = free_name(key, lambda name, taken=taken: self._taken(name) or name.lower() in taken)  # type: ignore[misc]
                made.append(Item(name, column(key, self.relation.node.type_of(key))))
        return tuple(made)

    def _taken(self, name: str) -> bool:
        own = [*self.keys, self.sets.id, *(item.name for item in self.computed), *(call.name for call in self.calls)]
        used = [*own, *(name for name, _, _ in self.gaps.values)]
        return name.lower() in (known.lower() for known in (*used, *self.relation.node.columns, *self.above))

    def _bind(self, call: Call, where: Resolved, wanted: str | None) -> AggCall:
        span = scalar.place_of(call, where.span)
        if call.user:
            return self._users(call, call.user, where, wanted, span)
        call = respelled(call, where.types, span)
        if call.function == "ARRAY_AGG" and call.distinct:
            _refuse_nulls_counted_twice(call, span)
        condition = self._filter(call, where, span)
        arguments = tuple(scalar.to_scalar(tree, where.types, span) for tree in call.arguments if not call.star)
        if call.order and call.function in AGGREGATES and call.chosen is None:
            _refuse_another_order(call, arguments, span)
        approximate = isinstance(call.tree.find(exp.ApproxDistinct), exp.ApproxDistinct)
        if approximate and self.by_sketch:
            sketch = call.chosen or DistinctSketch("hll", USUAL_LG)
            call, approximate = replace(call, function=ESTIMATE, chosen=sketch, distinct=False), False
        elif approximate:
            call = replace(call, chosen=None)
        function = "COUNT" if approximate else call.function
        time = self.relation.time if function in EVENT_TIME else None
        untimed = function in EVENT_TIME and time is None and not call.order
        if function in AGGREGATES and not call.arguments:
            _require_number(function, AGGREGATES[function], (), span)
        _check_beyond(call, arguments, untimed, span)
        if function == "ARRAY_AGG" and isinstance(call.arguments[0], exp.Struct):
            _check_json(call.arguments[0], where, untimed, span)
        if function is None or untimed or call.as_in_spark:
            return self._sparks_own(call, where, wanted, span)
        row = _row(function, call, arguments)
        if call.star:
            arguments = (text("*"),)
        _require_number(function, row, arguments, span)
        if function == "LISTAGG" and len(arguments) == 1:
            arguments = (*arguments, text("','", STRING))
        kind = arguments[0].type
        _refuse_other_types(function, row, arguments, span)
        require_known_argument(function, kind, span)
        if row.foreign(kind):
            return self._sparks_own(call, where, wanted, span)
        distinct = (call.distinct or approximate) and not row.ignores_distinct
        if distinct and not row.templates(kind).take_distinct:
            raise UnsupportedError(
                f"{function}(DISTINCT ...) is not supported", span=span, hint="FROM (SELECT DISTINCT ...) in a subquery"
            )
        name = self._name(wanted, function, arguments)
        keys = tuple(scalar.to_scalar(key.this, where.types, span) for key in call.order if function in LISTS)
        _refuse_other_types("ORDER BY", AGGREGATES["MIN"], keys, span)
        order = tuple(_direction(key) for key in call.order if keys)
        kind, chosen, of = row.result(kind), call.chosen, (*arguments, *keys)
        return AggCall(name, function, of, distinct, condition, time, kind, chosen=chosen, order=order, span=span)

    @staticmethod
    def _filter(call: Call, where: Resolved, span: Span) -> Scalar | None:
        """The condition of FILTER."""
        if call.filter is None:
            return None
        made = scalar.to_scalar(call.filter, where.types, span)
        return scalar.checked(made, Resolved(call.filter, where.types, span), "FILTER (WHERE ...)")

    def _users(self, call: Call, function: UserFunction, where: Resolved, wanted: str | None, span: Span) -> AggCall:
        """A user's aggregate. It receives NULLs like any other value."""
        check_arguments(function, call.arguments, span)
        condition = self._filter(call, where, span)
        arguments = tuple(scalar.to_scalar(tree, where.types, span) for tree in call.arguments)
        name = self._name(wanted, function.name, arguments)
        kind = function.result
        return AggCall(name, function.name, arguments, call.distinct, condition, type=kind, user=function, span=span)

    def _sparks_own(self, call: Call, where: Resolved, wanted: str | None, span: Span) -> AggCall:
        """An aggregate that Spark computes by its own rules: its argument is the whole text of the call."""
        all_values = call.function in ("COLLECT", "COLLECT_LIST", "ARRAY_AGG")
        lists = all_values or (call.function == "LISTAGG" and call.distinct)
        if lists and not call.as_in_spark:
            kind = AGGREGATES[str(call.function)].result(scalar.to_scalar(call.arguments[0], where.types, span).type)
            whole = scalar.to_scalar(scalar.listed(call), where.types, span)
        else:
            whole = scalar.to_scalar(call.tree, where.types, span)
            kind = whole.type
        scalar.refuse_no_aggregate(call.tree, whole, span)
        name = self._name(wanted, call.function or "value", (whole,))
        return AggCall(name, "SPARK", (whole,), type=kind, span=span)

    def _name(self, wanted: str | None, function: str, arguments: tuple[Scalar, ...]) -> str:
        """The name of the call's column: the one that the SELECT wants, else one made from the call."""
        of = arguments[0].column if arguments else None
        default = f"{function.lower()}_{of}" if of else function.lower()
        return free_name(wanted or default, self._taken)


NUMBERS = {Accepts.NUMBER: "DOUBLE", Accepts.INTEGER: "BIGINT", Accepts.FLOAT: "FLOAT"}


def _row(function: str, call: Call, arguments: Sequence[Scalar]) -> AggregateFunction:
    """The function's row in the table of aggregates."""
    if isinstance(call.chosen, Sketch):
        return of_sketch(function, call.chosen, arguments[0].type if arguments else UNKNOWN)
    if isinstance(call.chosen, TopRows):
        return of_best(function, call.chosen)
    return of_chosen(function, call.chosen, weighted=True) if call.chosen else AGGREGATES[function]


def _require_number(function: str, row: AggregateFunction, arguments: Sequence[Scalar], span: Span) -> None:
    """Raise BindError for another number of arguments than the function takes."""
    least, most = row.arguments
    if not least <= len(arguments) <= most:
        raise wrong_number(function, from_to(least, most), len(arguments), least, span)


def _refuse_other_types(function: str, row: AggregateFunction, arguments: Sequence[Scalar], span: Span) -> None:
    """Raise BindError if an argument has a type that the function does not accept."""
    for argument in arguments[: row.operands]:
        if not row.accepts.takes(argument.type):
            number = NUMBERS.get(row.accepts) if has_cast(argument.type, DOUBLE) else None
            raise BindError(
                f"{function} takes a {row.accepts.value}, but {argument.sql} is {argument.type.flink}",
                span=span,
                hint=f"{function}(CAST({argument.sql} AS {number}))" if number else None,
            )


def _check_beyond(call: Call, arguments: Sequence[Scalar], untimed: bool, span: Span) -> None:
    """Note an argument of MIN, MAX or LISTAGG that Flink does not take. Raises BindError for one that LISTAGG makes no
    text of, and, without event time too (`untimed`), for values that must be told apart and cannot be.
    """
    family = family_of(arguments[0].type) if arguments else None
    if call.function in ("MIN", "MAX") and family in ("bi", "a", "r", "iv"):
        note_argument(call.function, call.arguments[0], arguments[0].type, "STRING")
    if call.function == "LISTAGG" and family not in ("s", None):
        if family in NO_TEXT:
            raise no_text(arguments[0].sql, arguments[0].type, span)
        note_argument("LISTAGG", call.arguments[0], arguments[0].type, "STRING")
    if call.function == "LISTAGG" and len(arguments) == 2 and scalar.constant_string(call.arguments[1]) is None:
        raise no_separator(arguments[0].sql, scalar.place_of(call.arguments[1], span))
    if call.function == "COLLECT_UNION" and isinstance(call.arguments[0].unnest(), exp.Null):
        raise BindError("COLLECT_UNION takes no NULL without a type", span=span, hint="CAST(NULL AS ARRAY<INT>)")
    if untimed and call.function in (*LISTS, "COLLECT") and (call.distinct or call.function == "COLLECT"):
        _refuse_other_types(call.function, AGGREGATES[call.function], arguments, span)


def _check_json(row: exp.Struct, where: Resolved, untimed: bool, span: Span) -> None:
    """Check the rows of JSON_ARRAYAGG and JSON_OBJECTAGG (`syntax/calls.py`): keys are texts, and values that come in
    order of time can be ordered. Raises BindError.
    """
    parts = {part.alias: part.this for part in row.expressions if isinstance(part, exp.Alias)}
    name = "JSON_OBJECTAGG" if "k" in parts else "JSON_ARRAYAGG"
    for alias, tree in parts.items():
        value = scalar.to_scalar(tree, where.types, span)
        if alias == "k":
            require_text(f"a key of {name}", value.type)
        elif isinstance(value.type, Interval):
            raise BindError(f"{name} takes no INTERVAL", span=span, hint="CAST(x AS STRING)")
        elif not untimed and not Accepts.ORDERED.takes(value.type):
            problem = f"{name} takes a {Accepts.ORDERED.value}, but {value.sql} is {value.type.flink}"
            raise BindError(problem, span=span)


def _direction(key: exp.Ordered) -> str:
    down, nulls_first = bool(key.args.get("desc")), key.args.get("nulls_first")
    return Order(text(""), down, not down if nulls_first is None else bool(nulls_first)).direction


def _refuse_another_order(call: Call, arguments: Sequence[Scalar], span: Span) -> None:
    """Refuse ORDER BY in an aggregate without an order, and one of different values by anything but themselves: equal
    values may have other keys.
    """
    if call.function not in LISTS:
        raise UnsupportedError(
            f"{call.function} takes no ORDER BY",
            span=span,
            hint="LISTAGG and ARRAY_AGG have an order: ARRAY_AGG(x) WITHIN GROUP (ORDER BY y)",
        )
    other = next((key for key in call.order if key.this != call.arguments[0]), None) if call.distinct else None
    if other is not None:
        value = arguments[0].sql
        raise BindError(
            f"the values of {call.function}(DISTINCT {value}) have no other order than their own",
            span=scalar.place_of(other, span),
            hint=f"{call.function}(DISTINCT {value}) WITHIN GROUP (ORDER BY {value})",
        )


def _refuse_nulls_counted_twice(call: Call, span: Span) -> None:
    """Refuse ARRAY_AGG(DISTINCT x) FILTER (...), for which Flink returns NULL twice, unless it leaves NULLs out."""
    if call.filter is None:
        return
    held = scalar.is_not_null(call.arguments[0])
    if held in (call.filter.flatten() if isinstance(call.filter, exp.And) else [call.filter]):
        return
    raise UnsupportedError(
        "ARRAY_AGG(DISTINCT ...) with FILTER must leave NULLs out",
        span=span,
        hint="FILTER (WHERE x IS NOT NULL AND ...)",
    )
