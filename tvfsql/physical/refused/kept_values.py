"""Values that streams cannot keep. A MAP is not found again, for its entries have no order; an INTERVAL of months does
not reach Python, as Spark gives it to Arrow only in one direction.
"""

from __future__ import annotations

from collections.abc import Iterator

from tvfsql.errors import OtherMode, Span, UnsupportedError
from tvfsql.plan.gaps import GapFill, GridFill
from tvfsql.plan.joins import IntervalJoin, RegularJoin, TemporalJoin, WindowJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Aggregate, TemporalSort, UpsertAggregate
from tvfsql.plan.over import OverPartials
from tvfsql.plan.patterns import PatternMatch
from tvfsql.plan.rank import Deduplicate, TopN, WindowDeduplicate, WindowTopN
from tvfsql.plan.values.types import INTERVAL_MONTHS, SqlType, has_map
from tvfsql.plan.window import Session
from tvfsql.plan.window_nodes import (
    GlobalWindowAggregate,
    LocalWindowAggregate,
    WindowAggregate,
    WindowTableFunction,
)

PARTITIONED = (
    Deduplicate, GapFill, GridFill, OverPartials, PatternMatch, TopN, WindowTopN, WindowDeduplicate,
    WindowTableFunction,
)  # fmt: skip
AGGREGATES = Aggregate, WindowAggregate, LocalWindowAggregate, GlobalWindowAggregate
JOINS = IntervalJoin, RegularJoin, TemporalJoin, WindowJoin
Used = tuple[str, str, SqlType]  # its use, its name and its type


def refuse_arguments(plan: Node) -> None:
    """Raise UnsupportedError for an argument of an aggregate that a stream cannot keep. The plan is the logical one
    before all rules: the partials that they make of arguments have no types.
    """
    for node in plan.walk():
        if not isinstance(node, Aggregate):
            continue
        for call in node.calls:
            for argument in call.arguments:
                if call.distinct:
                    _refuse_map(("an argument of DISTINCT", argument.sql, argument.type), call.span)
                _refuse_months(argument.sql, argument.type, call.span)


def refuse_kept(plan: Node) -> None:
    """Raise UnsupportedError for a key or a column that a stream cannot keep."""
    for node in plan.walk():
        for used in _keys(node):
            _refuse_map(used, node.span)
        if _is_in_python(node):
            for field in (field for child in node.children for field in child.schema):
                _refuse_months(field.name, field.type, node.span)


def _keys(node: Node) -> Iterator[Used]:
    """What rows are found by."""
    if isinstance(node, Aggregate | WindowAggregate | LocalWindowAggregate):
        yield from (("a key of GROUP BY", name, node.input.type_of(name)) for name in node.keys)
    if isinstance(node, PARTITIONED):
        yield from (("a key of PARTITION BY", name, node.input.type_of(name)) for name in node.partition)
    if isinstance(node, JOINS):
        yield from (("compared in a join", pair.left, node.left.type_of(pair.left)) for pair in node.pairs)


def _is_in_python(node: Node) -> bool:
    if isinstance(node, WindowTableFunction):
        return isinstance(node.window, Session)
    return isinstance(node, (*PARTITIONED, *AGGREGATES, *JOINS, TemporalSort)) and not isinstance(node, UpsertAggregate)


def _refuse_map(used: Used, span: Span | None) -> None:
    use, name, kind = used
    if has_map(kind):
        raise UnsupportedError(
            f"on streams a MAP cannot be {use}, but {name} is {kind.flink}",
            span=span,
            hint=OtherMode("batch", f"one of its values, as in {name}['a']"),
        )


def _refuse_months(name: str, kind: SqlType, span: Span | None) -> None:
    if any(part == INTERVAL_MONTHS for part in kind.walk()):
        raise UnsupportedError(
            f"on streams an INTERVAL of months cannot be kept, but {name} is {kind.flink}",
            span=span,
            hint=OtherMode("batch", f"a number of months in place of {name}"),
        )
