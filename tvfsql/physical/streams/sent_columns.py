"""What an operator of a stream need not be sent, because other columns of its rows tell it."""

from __future__ import annotations

import re
from dataclasses import replace

from tvfsql.physical.operators import Calc, Exchange, WatermarkAssigner
from tvfsql.physical.row_operators import StreamKeepRow, StreamOverAggregate, StreamTemporalSort
from tvfsql.physical.streams.history import histories
from tvfsql.physical.window_operators import StreamSlices
from tvfsql.plan.values.scalar import Scalar

UNITS = {"MILLISECOND": 1, "SECOND": 1_000, "MINUTE": 60_000, "HOUR": 3_600_000}
DAY = 86_400_000
ONE = "1L"  # the partial of COUNT(*) of a single row


def delay_of(node: StreamSlices | StreamKeepRow | StreamOverAggregate | StreamTemporalSort) -> int | None:
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
