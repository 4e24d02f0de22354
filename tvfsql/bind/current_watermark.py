"""CURRENT_WATERMARK(ts): a column that an operator below the SELECT adds. Source: semantics.md#watermarks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from tvfsql.bind.scope import CURRENT_WATERMARK, Relation, Visible, calls_of
from tvfsql.errors import BindError, Span
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import CurrentWatermark
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.values.scalar import free_name
from tvfsql.plan.window_nodes import WindowTableFunction
from tvfsql.syntax import ast
from tvfsql.syntax.places import span_of

HINT = "CURRENT_WATERMARK({}), in the query that reads the table"


def with_current_watermark(select: ast.Select, relation: Relation) -> Relation:
    """The rows of FROM, with their watermark if an expression of the SELECT calls CURRENT_WATERMARK. Raises BindError
    for an argument that is not the rows' event time.
    """
    calls = [(call, span_of(call, expr.span)) for expr in _expressions(select) for call in calls_of(expr.tree)]
    if not calls:
        return relation
    for call, span in calls:
        _check(call, relation, span)
    time = relation.time or ""
    name = free_name("current_watermark", lambda known: known.lower() in map(str.lower, relation.node.columns))
    kind = relation.node.type_of(time)
    visible = (*relation.visible, Visible(CURRENT_WATERMARK, name, name, kind, hidden=True))
    return Relation(_below_windows(relation.node, time, name, calls[0][1]), visible, time)


def _below_windows(node: Node, time: str, name: str, span: Span) -> Node:
    """Put the operator below a window function, because windows are pulled into the aggregate above them."""
    if isinstance(node, WindowTableFunction):
        return replace(node, input=_below_windows(node.input, time, name, span))
    return CurrentWatermark(node, time, name, span=span)


def _check(call: exp.Anonymous, relation: Relation, span: Span) -> None:
    if len(call.expressions) != 1 or not isinstance(column := call.expressions[0], exp.Column):
        raise BindError("CURRENT_WATERMARK takes one column: the event time", span=span, hint=_hint(relation))
    found = relation.lookup(column.table or None, column.name, span_of(column, span))
    if found.plan != relation.time or is_proctime(relation.node, found.plan):
        message = f"CURRENT_WATERMARK needs the event time of the rows, but {found.name} has no watermark"
        raise BindError(message, span=span_of(column, span), hint=_hint(relation))


def _hint(relation: Relation) -> str:
    time = next((part.name for part in relation.visible if part.plan == relation.time), None)
    return HINT.format(time) if time else "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND in CREATE TABLE"


def _expressions(select: ast.Select) -> Iterator[ast.Expr]:
    yield from (item.expr for item in select.items if item.expr)
    yield from select.group_by
    yield from (key for each in select.grouping_sets for key in each.keys)
    yield from filter(None, (select.where, select.having, select.qualify))
    yield from (operand for match in select.matches for operand in match.operands)
