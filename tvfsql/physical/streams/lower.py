"""Lowering for streams: slices of single rows, ranks within micro-batches."""

from __future__ import annotations

from dataclasses import fields, replace

from tvfsql.catalog import Table
from tvfsql.errors import UnsupportedError
from tvfsql.options import Options
from tvfsql.options.known import KEY_GROUPS, LATE_RECORDS, STATE_TTL
from tvfsql.options.words import LateRecords
from tvfsql.physical.copied_rows import is_proctime
from tvfsql.physical.operators import StreamDeduplicate, StreamTopN
from tvfsql.physical.streams.firing import firing_of
from tvfsql.physical.streams.inputs import inputs_of, mark_items, on_event, with_marks
from tvfsql.physical.window_operators import SliceMerge, StreamSliceMerge, StreamSlices
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item
from tvfsql.plan.rank import WindowDeduplicate, WindowTopN
from tvfsql.plan.start_mode import Place, StartMode
from tvfsql.plan.stream import Firing, StreamContext
from tvfsql.plan.window import Endless, Session
from tvfsql.plan.window_nodes import LocalWindowAggregate


def stream_rank(node: WindowTopN | WindowDeduplicate) -> StreamTopN | StreamDeduplicate:
    """The same operator for the rows of a micro-batch."""
    made = StreamTopN if isinstance(node, WindowTopN) else StreamDeduplicate
    return made(**{part.name: getattr(node, part.name) for part in fields(node)})


def stream_slices(node: LocalWindowAggregate, options: Options) -> StreamSlices:
    """The slices of a stream; `node.input` is physical. Raises UnsupportedError for what streams do not support."""
    rows = with_marks(node.input, node.time, options)
    columns = (Item(name, rows.items[name]) for name in dict.fromkeys((*node.keys, node.time)))
    partials = (Item(part.name, part.row.substitute(rows.items)) for part in node.partials)
    made = rows.computing((*columns, *partials, *mark_items(rows.source)))
    merges = tuple((part.name, part.merge) for part in node.partials)
    proctime = is_proctime(node.input, node.time)
    context = StreamContext(
        zone=node.zone,
        proctime=proctime,
        on_event=on_event(made) and not proctime,
        key_groups=options[KEY_GROUPS],
        by_input=node.by_input,
    )
    counts = tuple(part.name for part in node.partials if part.counts)
    return StreamSlices(made, node.window, node.time, node.keys, merges, context, counts)


def stream_merge(merged: SliceMerge, slices: Node, options: Options, *, changes: bool) -> StreamSliceMerge:
    """The windows of a stream, merged from `slices`. `changes`: those of an endless window replace earlier results.
    Raises OptionError if the emit options contradict each other.
    """
    assert isinstance(slices, StreamSlices), slices.label()
    adjust = options[LATE_RECORDS] is LateRecords.ADJUST and not slices.context.proctime
    endless = isinstance(merged.window, Endless)
    firing = (Firing(0) if changes else None) if endless else firing_of(options)
    if firing is not None and isinstance(merged.window, Session) and slices.context.on_event:
        raise UnsupportedError(
            "a SESSION cannot fire early or late with watermarks on-event",
            hint="EMIT ON WINDOW CLOSE, or ALTER TABLE ... RESET ('scan.watermark.emit.strategy')",
        )
    return StreamSliceMerge(
        **{part.name: getattr(merged, part.name) for part in fields(merged)},
        context=replace(slices.context, inputs=inputs_of(slices), firing=firing, adjust=adjust),
        retention=options[STATE_TTL] if endless else 0,
    )


# The place at which a stream starts to read its tables (`tvfsql.start-mode`). Source: docs/streams.md#start-mode.


def started(table: Table, mode: StartMode) -> Table:
    """Return a table that a new stream reads from the place of `mode` on. Raises UnsupportedError if it cannot."""
    if mode.place in (Place.BEGINNING, None):
        return table
    made = table.connector.started(mode) if table.connector is not None else None
    if table.history is not None or made is None:
        kind = "it has a history" if table.history is not None else "only Kafka has times to start at"
        raise UnsupportedError(
            f"tvfsql.start-mode is {mode}, but table {table.name} can only be read from its beginning: {kind}",
            hint="SET 'tvfsql.start-mode' = 'RESUME_OR_FROM_BEGINNING', and a condition on the time column",
        )
    return replace(table, connector=made)
