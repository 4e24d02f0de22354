"""Binds a MATCH_RECOGNIZE clause to PatternMatch."""

from __future__ import annotations

from collections.abc import Sequence

from tvfsql.bind import scalar
from tvfsql.bind.patterns.conditions import Conditions
from tvfsql.bind.patterns.measures import Measures
from tvfsql.bind.patterns.places import Places
from tvfsql.bind.scope import Relation, Visible
from tvfsql.bind.spark_text.functions import is_proctime as is_proctime_call
from tvfsql.errors import BindError, Span, UnsupportedError, did_you_mean
from tvfsql.plan.analysis.properties import window_of
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Order, Project
from tvfsql.plan.patterns import ALL, PAST_LAST, TO_FIRST, TO_NEXT, Condition, Pattern, PatternMatch, Variable
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.values.scalar import column, free_name
from tvfsql.plan.values.types import is_time
from tvfsql.syntax import ast


def bind_match(table: ast.MatchTable, found: Relation, *, streaming: bool, by_sketch: bool) -> Relation:
    """The matches of MATCH_RECOGNIZE in the rows of a relation: the columns of PARTITION BY, then the measures."""
    clause = table.clause
    keys = tuple(dict.fromkeys(_column(each, found, "PARTITION BY").plan for each in clause.partition_by))
    time, order = _order(clause, found, streaming=streaming)
    places = Places(found, _variables(clause), time)
    measures = Measures(places, by_sketch)
    define = Conditions(places, measures)
    conditions = _conditions(clause, define)
    skip_to = _skip_to(clause, places.variables)
    made_of = [(item, measures.measure(item)) for item in clause.measures]
    source: Node = found.node
    if define.computed:
        kept = (Item(part.name, column(part.name, part.type)) for part in source.schema)
        source = Project(source, (*kept, *(Item(name, of) for of, name in define.computed.items())))
    within = clause.within.ms if clause.within else None
    pattern = Pattern(places.variables, conditions, tuple(define.aggregates), within, clause.skip, skip_to)
    shown = tuple(f"{name.text} AS {expr}" for name, expr in clause.define)
    navigations = tuple(measures.navigations.values())
    if not (keys or navigations or measures.calls):
        raise BindError("MATCH_RECOGNIZE needs MEASURES or PARTITION BY", span=clause.span, hint="MEASURES A.x AS x")
    node: Node = PatternMatch(
        source, keys, time, order, pattern, navigations, tuple(measures.calls), shown=shown, span=clause.span
    )
    taken = [*keys]
    items = [Item(key, column(key, found.node.type_of(key))) for key in keys]
    names = {part.plan: part.name for part in found.visible}
    visible = [Visible("", names[key], key, found.node.type_of(key)) for key in keys]
    rowtime = None
    for item, made in made_of:
        assert item.alias is not None
        name = free_name(item.alias.text, taken)
        taken.append(name)
        items.append(Item(name, made))
        visible.append(Visible("", item.alias.text, name, made.type))
        if made.column is not None and made.column == places.rowtime:
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


def _conditions(clause: ast.MatchRecognize, define: Conditions) -> tuple[Condition | None, ...]:
    made: list[Condition | None] = [None] * len(define.places.variables)
    defined: set[int] = set()
    for name, expr in clause.define:
        number = _number(name, define.places.variables)
        if number in defined:
            raise BindError(f"{name.text} is defined twice", span=name.span, hint="leave one of them out")
        defined.add(number)
        made[number] = define.condition(number, expr)
    return tuple(made)
