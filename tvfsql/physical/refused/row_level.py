"""Row-level operators of streams: the inputs that they require, and what they reject."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TypeVar

from tvfsql.errors import IN_STREAMS, UnsupportedError
from tvfsql.options import Options
from tvfsql.options.known import KEY_GROUPS, NULL_TIMES, STATE_TTL
from tvfsql.options.words import NullTimes
from tvfsql.physical.copied_rows import is_proctime
from tvfsql.physical.operators import Calc, Exchange, WatermarkAssigner, endless_tables
from tvfsql.physical.row_operators import (
    StreamChangelogNormalize,
    StreamCurrentWatermark,
    StreamGapFill,
    StreamGridFill,
    StreamIntervalJoin,
    StreamKeepRow,
    StreamMatch,
    StreamOverAggregate,
    StreamRegularJoin,
    StreamTemporalJoin,
    StreamTemporalSort,
    StreamUpdatingTopN,
)
from tvfsql.physical.streams.inputs import handing_marks_on, inputs_of, mark_items, on_event, with_marks
from tvfsql.physical.window_operators import window_time
from tvfsql.physical.words import BY_EVENT_TIME, origin
from tvfsql.plan.changelogs import ChangelogNormalize
from tvfsql.plan.gaps import GapFill, GridFill
from tvfsql.plan.joins import IntervalJoin, RegularJoin, TemporalJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import CurrentWatermark, Item, TemporalSort
from tvfsql.plan.over import OverPartials
from tvfsql.plan.patterns import PatternMatch
from tvfsql.plan.rank import Deduplicate, TopN
from tvfsql.plan.stream import StreamContext
from tvfsql.plan.tables.internal_columns import ALWAYS, SINCE
from tvfsql.plan.values.scalar import column, free_name
from tvfsql.plan.values.types import TIMESTAMP, is_time

J = TypeVar("J", IntervalJoin, RegularJoin, TemporalJoin)


def stream_keep_row(node: Deduplicate, options: Options) -> StreamKeepRow:
    """Return the operator with its retention, over rows with watermarks; `node.input` is physical.

    Raises UnsupportedError for last rows that would never be final.
    """
    retention = options[STATE_TTL]
    endless = next(endless_tables(node), None)
    if node.order.descending and not retention and endless:
        raise UnsupportedError(
            f"the last row of a key is never final, because {endless} is unbounded",
            hint=f"SET '{STATE_TTL.key}' = '1 h' emits it when its key has been idle for an hour; a table that takes "
            "changes has it at once",
        )
    if node.event and retention:
        raise UnsupportedError(
            f"'{STATE_TTL.key}' forgets no keys of first rows by processing time whose event time is used",
            hint=f"RESET '{STATE_TTL.key}'",
        )
    source = marked_rows(node.input, node.time, options)
    made = replace(node, input=Exchange(source, node.partition))
    return StreamKeepRow(
        **{part.name: getattr(made, part.name) for part in fields(made)},
        context=StreamContext(
            inputs=inputs_of(source),
            proctime=node.proctime and not node.event,
            on_event=on_event(source) and (not node.proctime or bool(node.event)),
            key_groups=options[KEY_GROUPS],
        ),
        retention=retention,
    )


def stream_updating_top_n(node: TopN, options: Options) -> StreamUpdatingTopN:
    """Return the operator with its retention, over rows in processing time; `node.input` is physical.

    Raises UnsupportedError for changes by processing time.
    """
    last = node.order[0].scalar.column if node.function == "ROW_NUMBER" and node.order[0].descending else None
    newest = last is not None and len(node.order) == 1 and is_proctime(node.input, last)
    if newest and node.retracts:
        raise UnsupportedError(
            f"{node.limit} by processing time needs rows that only come, but its input changes",
            hint="ORDER BY a column of the rows",
        )
    source = marked_rows(node.input, ALWAYS, options)
    own = {part.name: getattr(node, part.name) for part in fields(node)}
    return StreamUpdatingTopN(
        **own | {"input": Exchange(source, node.partition), "sign": ""},
        context=StreamContext(inputs=inputs_of(source), proctime=True, key_groups=options[KEY_GROUPS]),
        newest=newest,
        retention=options[STATE_TTL],
    )


def stream_current_watermark(node: CurrentWatermark, options: Options) -> StreamCurrentWatermark:
    """Return the operator over rows with watermarks; `node.input` is physical.

    Raises UnsupportedError in batch, which has no watermarks.
    """
    if not options.streaming:
        raise UnsupportedError(
            "CURRENT_WATERMARK works on streams only: batch has no watermarks",
            span=node.span,
            hint=IN_STREAMS,
        )
    if options[NULL_TIMES] == NullTimes.SKIP_WATERMARK:
        raise UnsupportedError(
            f"CURRENT_WATERMARK does not work with {NULL_TIMES.key} = 'SKIP_WATERMARK'",
            span=node.span,
            hint=f"SET '{NULL_TIMES.key}' = 'DROP'",
        )
    source = marked_rows(node.input, node.time, options)
    context = StreamContext(inputs=inputs_of(source), on_event=on_event(source), key_groups=options[KEY_GROUPS])
    return StreamCurrentWatermark(Exchange(source, (node.time,)), node.time, node.name, context=context, span=node.span)


def stream_changelog_normalize(node: ChangelogNormalize, options: Options) -> StreamChangelogNormalize:
    """Return the operator over rows with watermarks, or in processing time if the table has none; `node.input` is
    physical.
    """
    source = marked_rows(node.input, node.time, options) if node.time else handing_marks_on(node.input)
    source = source.transform(
        lambda below: replace(below, ends=node.ends) if isinstance(below, WatermarkAssigner) else below
    )
    context = StreamContext(inputs=inputs_of(source), on_event=on_event(source), key_groups=options[KEY_GROUPS])
    own = {part.name: getattr(node, part.name) for part in fields(node)}
    return StreamChangelogNormalize(**own | {"input": Exchange(source, node.key)}, context=context)


def stream_temporal_sort(node: TemporalSort, options: Options) -> StreamTemporalSort:
    """Return the operator over rows with watermarks; `node.input` is physical.

    Raises UnsupportedError for processing time, by which rows are in order, and for a time without a watermark.
    """
    if is_proctime(node.input, node.time):
        raise UnsupportedError("a stream is in order of processing time without ORDER BY", hint="leave it out")
    if not is_time(node.input.type_of(node.time)):
        raise UnsupportedError(
            f"on streams ORDER BY begins with the event time, not with {origin(node, node.time)}",
            hint=BY_EVENT_TIME,
        )
    source = marked_rows(node.input, node.time, options)
    context = StreamContext(inputs=inputs_of(source), on_event=on_event(source), key_groups=options[KEY_GROUPS])
    return StreamTemporalSort(Exchange(source, ()), node.order, context=context)


def stream_over_aggregate(node: OverPartials, options: Options) -> StreamOverAggregate:
    """Return the operator with its retention, over rows with watermarks; `node.input` is physical."""
    proctime = is_proctime(node.input, node.time)
    source = marked_rows(node.input, node.time, options)
    context = StreamContext(
        inputs=inputs_of(source),
        proctime=proctime,
        on_event=on_event(source) and not proctime,
        key_groups=options[KEY_GROUPS],
    )
    own = {part.name: getattr(node, part.name) for part in fields(node)}
    return StreamOverAggregate(
        **own | {"input": Exchange(source, node.partition)}, context=context, retention=options[STATE_TTL]
    )


def stream_gap_fill(node: GapFill, options: Options) -> StreamGapFill:
    """Return the operator over rows of windows with watermarks; `node.input` is physical."""
    source, times = node.input, node.named("time")
    if not times:
        taken = {name.lower() for name in source.columns}
        times = (free_name("rowtime", lambda name: name.lower() in taken),)
        last = Item(times[0], window_time(column(node.named("end")[0], TIMESTAMP), ""))
        source = Calc(source, (*(Item(part.name, column(part.name, part.type)) for part in source.schema), last))
    source = marked_rows(source, times[0], options)
    context = StreamContext(inputs=inputs_of(source), on_event=on_event(source), key_groups=options[KEY_GROUPS])
    own = {part.name: getattr(node, part.name) for part in fields(node)}
    return StreamGapFill(**own | {"input": Exchange(source, node.partition)}, time=times[0], context=context)


def stream_grid_fill(node: GridFill, options: Options) -> StreamGridFill:
    """Return the operator over rows with watermarks; `node.input` is physical."""
    source = marked_rows(node.input, node.time, options)
    context = StreamContext(inputs=inputs_of(source), on_event=on_event(source), key_groups=options[KEY_GROUPS])
    own = {part.name: getattr(node, part.name) for part in fields(node)}
    return StreamGridFill(**own | {"input": Exchange(source, node.partition)}, context=context)


def stream_match(node: PatternMatch, options: Options) -> StreamMatch:
    """Return the operator over rows with watermarks; `node.input` is physical."""
    source = marked_rows(node.input, node.time, options)
    context = StreamContext(inputs=inputs_of(source), on_event=on_event(source), key_groups=options[KEY_GROUPS])
    own = {part.name: getattr(node, part.name) for part in fields(node)}
    return StreamMatch(**own | {"input": Exchange(source, node.partition)}, context=context)


def stream_interval_join(node: IntervalJoin, options: Options) -> StreamIntervalJoin:
    """Return the operator over two streams whose rows carry watermarks; its sides are physical."""
    made, inputs = _over_marked(node, options)
    return StreamIntervalJoin(
        **{part.name: getattr(made, part.name) for part in fields(made)},
        context=StreamContext(inputs=inputs, proctime=node.proctime, key_groups=options[KEY_GROUPS]),
    )


def stream_regular_join(node: RegularJoin, options: Options) -> StreamRegularJoin:
    """Return the operator over two streams in processing time; its sides are physical."""
    made, inputs = _over_marked(node, options)
    own = {part.name: getattr(made, part.name) for part in fields(made)}
    return StreamRegularJoin(
        **own | {"sign": ""}, context=StreamContext(inputs=inputs, proctime=True, key_groups=options[KEY_GROUPS])
    )


def stream_temporal_join(node: TemporalJoin, options: Options) -> StreamTemporalJoin:
    """Return the operator over two streams whose rows carry watermarks; its sides are physical."""
    made, inputs = _over_marked(node, options)
    return StreamTemporalJoin(
        **{part.name: getattr(made, part.name) for part in fields(made)},
        context=StreamContext(inputs=inputs, key_groups=options[KEY_GROUPS]),
    )


def _over_marked(node: J, options: Options) -> tuple[J, tuple[str, ...]]:
    """A join over rows with watermarks, and the prefixes of the names of its channels."""
    times = SINCE if isinstance(node, RegularJoin) else (node.left_time, node.right_time)
    left, right = (marked_rows(side, time, options) for side, time in zip(node.children, times, strict=True))
    made = replace(
        node,
        left=Exchange(left, tuple(pair.left for pair in node.pairs)),
        right=Exchange(right, tuple(pair.right for pair in node.pairs)),
    )
    return made, tuple(f"{i}/{name}" for i, side in enumerate((left, right), 1) for name in inputs_of(side))


def marked_rows(node: Node, time: str, options: Options) -> Node:
    """All columns of the rows, and MARKS. Rows that a filter drops have NULL as their time."""
    calc = with_marks(node, time, options).calc
    items = (*calc.items, *mark_items(calc.input))
    idle = calc.input.columns == tuple(item.name for item in items) == tuple(item.scalar.column for item in items)
    return calc.input if idle else Calc(calc.input, items)
