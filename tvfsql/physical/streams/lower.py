"""Lowering for streams: slices of single rows, ranks within micro-batches, functions called for rows only."""

from __future__ import annotations

from dataclasses import fields, replace

from tvfsql.options import Options
from tvfsql.options.known import KEY_GROUPS, LATE_RECORDS
from tvfsql.options.words import LateRecords
from tvfsql.physical.operators import Calc, StreamDeduplicate, StreamTopN
from tvfsql.physical.streams.firing import firing_of
from tvfsql.physical.streams.inputs import inputs_of, mark_items, marked, on_event
from tvfsql.physical.streams.proctime import is_proctime
from tvfsql.physical.window_operators import SliceMerge, StreamSliceMerge, StreamSlices
from tvfsql.plan.function import UserFunction, functions_in
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item
from tvfsql.plan.rank import WindowDeduplicate, WindowTopN
from tvfsql.plan.stream import StreamContext
from tvfsql.plan.tables.internal_columns import CONTROL, LATE
from tvfsql.plan.values.scalar import Part, Ref, Scalar
from tvfsql.plan.window_nodes import LocalWindowAggregate


def stream_rank(node: WindowTopN | WindowDeduplicate) -> StreamTopN | StreamDeduplicate:
    """The same operator for the rows of a micro-batch."""
    made = StreamTopN if isinstance(node, WindowTopN) else StreamDeduplicate
    return made(**{part.name: getattr(node, part.name) for part in fields(node)})


def stream_slices(node: LocalWindowAggregate, options: Options) -> StreamSlices:
    """The slices of a stream; `node.input` is physical. Raises UnsupportedError for what streams do not support."""
    source = marked(node.input, node.time, options)
    items = {item.name: item.scalar for item in source.items}
    columns = tuple(Item(name, items[name]) for name in dict.fromkeys((*node.keys, node.time)))
    partials = tuple(Item(part.name, part.row.substitute(items)) for part in node.partials)
    made = Calc(source.input, (*columns, *partials, *mark_items()))
    merges = tuple((part.name, part.merge) for part in node.partials)
    proctime = is_proctime(node.input, node.time)
    context = StreamContext(
        zone=node.zone,
        proctime=proctime,
        on_event=on_event(source) and not proctime,
        key_groups=options[KEY_GROUPS],
    )
    counts = tuple(part.name for part in node.partials if part.counts)
    return StreamSlices(made, node.window, node.time, node.keys, merges, context, counts)


def stream_merge(merged: SliceMerge, slices: Node, options: Options) -> StreamSliceMerge:
    """The windows of a stream, merged from `slices`. Raises OptionError if the emit options contradict each other."""
    assert isinstance(slices, StreamSlices), slices.label()
    adjust = options[LATE_RECORDS] is LateRecords.ADJUST and not slices.context.proctime
    context = replace(slices.context, inputs=inputs_of(slices), firing=firing_of(options), adjust=adjust)
    return StreamSliceMerge(**{part.name: getattr(merged, part.name) for part in fields(merged)}, context=context)


def calling_for_rows(node: Node) -> Node:
    """Make the operator call users' functions only for rows of the query: not for control rows, nor for late rows on
    their way to a table, in which all columns of the query are NULL.
    """
    if not isinstance(node, Calc) or not any(functions_in((node.items, node.conditions))):
        return node
    others = next((name for name in (CONTROL, LATE) if name in node.input.columns), None)
    if others is None:
        return node
    items = tuple(Item(item.name, _for_rows(item.scalar, others)) for item in node.items)
    return Calc(node.input, items, tuple(_for_rows(one, others) for one in node.conditions))


def _for_rows(scalar: Scalar, others: str) -> Scalar:
    parts: list[Part] = []
    for part in scalar.parts:
        if parts and isinstance(parts[-1], UserFunction):
            assert isinstance(part, str) and part.startswith("("), scalar.sql
            parts += ["(", Ref(others), ")" if part.startswith("()") else ", "]
            part = part.removeprefix("()" if part.startswith("()") else "(")
        parts.append(part.for_rows if isinstance(part, UserFunction) else part)
    return replace(scalar, parts=tuple(part for part in parts if part != ""))
