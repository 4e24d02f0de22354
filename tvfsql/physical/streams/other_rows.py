"""Expressions over the other rows of a stream, which the query does not have but which carry watermarks or messages:
rows that a filter drops, control rows, late rows on their way to a table.

An expression must not fail for such a row, and a user's function must not be called.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tvfsql.physical.operators import Calc, Exchange, WatermarkAssigner
from tvfsql.physical.row_operators import StreamKeepRow, StreamMatch, StreamOverAggregate, StreamTemporalSort
from tvfsql.physical.streams.history import histories
from tvfsql.physical.window_operators import StreamSlices
from tvfsql.plan.node import Node, functions_in
from tvfsql.plan.nodes import Item
from tvfsql.plan.tables.internal_columns import CONTROL, LATE
from tvfsql.plan.values.scalar import Part, Ref, Scalar, column, template
from tvfsql.plan.values.types import BOOLEAN
from tvfsql.plan.values.user_function import UserFunction


def all_of(conditions: Sequence[Scalar]) -> Scalar | None:
    """The conjunction of all conditions; None if there are none."""
    whole: Scalar | None = None
    for one in conditions:
        whole = one if whole is None else template("{a} AND {b}", {"a": whole, "b": one}, BOOLEAN, atomic=False)
    return whole


def in_rows(value: Scalar, passes: Scalar | None) -> Scalar:
    """The value in rows that pass the filters, NULL in the others."""
    if passes is None:
        return value
    return template("CASE WHEN {p} THEN {v} END", {"p": passes, "v": value}, value.type)


def guarded(value: Scalar, passes: Scalar | None) -> Scalar:
    """The value in rows that pass the filters. In other rows it is anything, but is not computed if that could fail or
    call a user's function. EXPLAIN and manifests show the value alone.
    """
    calls, fails = [*functions_in(value.parts)], value.facts.can_fail
    if passes is None or not (calls or fails):
        return value
    made = value
    if calls and (fails or any(call.of_flink for call in calls)):  # Spark calls Python for every row, even within CASE
        made = made.substitute({name: in_rows(column(name), passes) for name in made.columns})
    if any(not call.of_flink for call in calls):
        excluded = template(f"CASE WHEN {{p}} AND `{CONTROL}` IS NULL THEN NULL ELSE TRUE END", {"p": passes})
        made = _with_first_argument(made, excluded.parts)
    if fails:
        made = in_rows(made, passes)
    return replace(made, type=value.type, span=value.span, written=value.shown)


def calling_for_rows(node: Node) -> Node:
    """Make the operator call users' functions only for rows of the query: not for control rows, nor for late rows on
    their way to a table, in which all columns of the query are NULL.
    """
    if not isinstance(node, Calc) or not any(functions_in((node.items, node.conditions))):
        return node
    others = next((name for name in (CONTROL, LATE) if name in node.input.columns), None)
    if others is None:
        return node
    items = tuple(Item(item.name, _with_first_argument(item.scalar, (Ref(others),))) for item in node.items)
    return Calc(node.input, items, tuple(_with_first_argument(one, (Ref(others),)) for one in node.conditions))


def _with_first_argument(scalar: Scalar, first: Sequence[Part]) -> Scalar:
    """Call users' functions only in rows in which `first` is NULL."""
    parts: list[Part] = []
    called = False
    for part in scalar.parts:
        if called:
            assert isinstance(part, str) and part.startswith("("), scalar.sql
            part = part.removeprefix("(")
            parts += ["(", *first, "" if part.startswith(")") else ", "]
        called = isinstance(part, UserFunction) and part.for_rows != part
        parts.append(part.for_rows if isinstance(part, UserFunction) else part)
    return replace(scalar, parts=tuple(part for part in parts if part != ""))


# What an operator of a stream need not be sent, because other columns of its rows tell it.


UNITS = {"MILLISECOND": 1, "SECOND": 1_000, "MINUTE": 60_000, "HOUR": 3_600_000}
DAY = 86_400_000
ONE = "1L"  # the partial of COUNT(*) of a single row


def delay_of(node: StreamSlices | StreamKeepRow | StreamMatch | StreamOverAggregate | StreamTemporalSort) -> int | None:
    """How long the watermark of each row is behind its time, in ms. None if that is not the same for all rows: if the
    watermark is another expression, rows lose their time in a filter, there are several sources or a history, or
    windows follow the wall clock of a zone.
    """
    rows, time = node.input, node.time
    if node.context.zone or node.context.proctime or (isinstance(node, StreamSlices) and any(histories(node))):
        return None
    while isinstance(rows, Calc | Exchange):
        if isinstance(rows, Calc) and rows.conditions:
            return None
        if isinstance(rows, Calc) and rows.items:
            below = next(item.scalar for item in rows.items if item.name == time).column
            if below is None:
                return None
            time = below
        rows = rows.input
    if not isinstance(rows, WatermarkAssigner) or rows.rowtime.column != time:
        return None
    return _behind(rows.watermark, time)


def _behind(watermark: Scalar, time: str) -> int | None:
    """The delay of the watermark `time`, or `time` - INTERVAL, in ms; less than a day, as days depend on the zone."""
    if watermark.column == time:
        return 0
    match watermark.parts:
        case (first, str(rest)) if Scalar((first,)).column == time:
            found = re.fullmatch(rf" - INTERVAL '(\d+)' ({'|'.join(UNITS)})", rest)
            delay = int(found[1]) * UNITS[found[2]] if found else DAY
            return delay if delay < DAY else None
    return None


def without_repeated_partials(node: StreamSlices) -> tuple[StreamSlices, dict[str, str], list[str]]:
    """The slices without the partials that their rows need not have as columns: those with the value of a key or of an
    earlier partial, which is named, and those that are 1 in each row. A history has partials of many rows.
    """
    rows = node.input
    if not isinstance(rows, Calc) or not rows.items or any(histories(node)):
        return node, {}, []
    partials = {name for name, _ in node.merges} - {*node.keys, node.time}
    first: dict[Scalar, str] = {}
    same, ones, kept = dict[str, str](), list[str](), []
    for item in rows.items:
        if item.name in partials and item.scalar.sql == ONE:
            ones.append(item.name)
        elif item.name in partials and item.scalar in first:
            same[item.name] = first[item.scalar]
        else:
            kept.append(item)
            if item.scalar.deterministic and item.name in {*node.keys, *partials}:
                first[item.scalar] = item.name
    return replace(node, input=replace(rows, items=tuple(kept))), same, ones
