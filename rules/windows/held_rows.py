"""Buffers rows of windows until their window ends; only then can streams rank them."""

from __future__ import annotations

from dataclasses import replace

from tvfsql.options import Options
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.aggregate.table import ROWS
from tvfsql.plan.aggregate.top_rows import TopRows, top_rows
from tvfsql.plan.analysis.properties import is_changelog
from tvfsql.plan.node import Node, row_of
from tvfsql.plan.nodes import Filter, Project, Unnest, directions
from tvfsql.plan.rank import WindowDeduplicate, WindowTopN
from tvfsql.plan.tables.internal_columns import WINDOW_COLUMNS
from tvfsql.plan.values.scalar import column, free_name, quoted, template
from tvfsql.plan.values.types import is_orderable
from tvfsql.plan.window import Session
from tvfsql.plan.window_nodes import WindowAggregate, WindowProperty, WindowTableFunction
from tvfsql.planner import rule
from tvfsql.rules.projection import passing


@rule
def hold_rows_until_window_ends(node: Node, options: Options) -> Node | None:
    """On streams, buffer the rows of a window and pass them on together when it ends.

    Before:
      WindowDeduplicate(window=[w], keep=[LastRow], partitionKeys=[item], orderKey=[bidtime])
      +- WindowTableFunction(window=[w])
         +- Scan(table=[bid], fields=[item, price, bidtime])
    After:
      WindowDeduplicate(window=[w], keep=[LastRow], partitionKeys=[item], orderKey=[bidtime])
      +- Unnest(rows=[rows])
         +- WindowAggregate(groupBy=[item], window=[w], select=[item, $ROWS(struct(price, bidtime)) AS rows, ...])
            +- Scan(table=[bid], fields=[item, price, bidtime])

    Holds because a rank within a window needs all its rows and no others, and a list of rows is merged from slices like
    any aggregate: a row is buffered once, however many windows contain it. Where the rank orders by columns of the
    rows, `$ROWS` keeps only rows within its limit: a row beyond it in its slice is beyond it in each window. Does not
    apply in batch, where all rows are
    there, over changes, or over aggregates, whose rows arrive together anyway. The rows of a SESSION are buffered
    whatever is above, because they have no window before it ends. For a SESSION with a maximum duration, the operator
    that buffers rows also cuts sessions, in batch too.
    """
    match node:
        case WindowTableFunction(window=Session(limit=limit)) if options.streaming or limit:
            return _collected(node, node.partition, "ARRAY_AGG")
        case WindowTopN() | WindowDeduplicate() if options.streaming:
            source = _held(node.input, node.window.without(node.partition), _limit(node))
            return replace(node, input=source) if source else None
    return None


def _limit(node: WindowTopN | WindowDeduplicate) -> TopRows | None:
    """The limit of the rank over columns of its input; None if it ranks by anything else."""
    function, keys, last = (
        ("ROW_NUMBER", (node.order,), 1)
        if isinstance(node, WindowDeduplicate)
        else (node.function, node.order, node.last)
    )
    ties = node.ties if function == "ROW_NUMBER" else ()
    if not all(key.scalar.column for key in (*keys, *ties)):
        return None
    return top_rows(function.lower(), order=directions(keys), ties=directions(ties), last=last)


def _held(node: Node, keys: tuple[str, ...], top: TopRows | None) -> Node | None:
    """The rows that are needed, buffered below a window function that has only projections and filters above it.

    `keys` are columns by which state may be distributed. `top` is the limit of the rank within `keys`, if it can be
    applied here. None if there is no such window function.
    """
    match node:
        case Project(source, items):
            columns = {item.name: item.scalar.column for item in items if item.scalar.column}
            below = tuple(columns[key] for key in keys if key in columns)
            held = _held(source, below, top.over(columns) if top and len(below) == len(keys) else None)
            return Project(held, items) if held else None
        case Filter(source, conditions):
            held = _held(source, keys, None)
            return Filter(held, conditions) if held else None
        case WindowTableFunction(source, window) if not isinstance(window, Session) and not is_changelog(source):
            own = tuple(dict.fromkeys(key for key in keys if key in source.columns))
            alike = {*keys, *WINDOW_COLUMNS}  # the same for all rows that are ranked together
            fewer = top.without(alike) if top and len(own) == len({*keys}) else None
            return _collected(node, own, ROWS, fewer)
    return None


def _collected(node: WindowTableFunction, keys: tuple[str, ...], function: str, top: TopRows | None = None) -> Node:
    """The same rows, emitted when their window ends: with ROWS in any order, with ARRAY_AGG by time. With `top`, only
    those within the limit."""
    kept = tuple(field for field in node.input.schema if field.name not in keys)
    holes = {f"c{i}": column(field.name, field.type) for i, field in enumerate(kept)}
    row = ", ".join(f"{{c{i}}} AS {quoted(field.name)}" for i, field in enumerate(kept))
    taken = {name.lower() for name in node.columns}
    rows = free_name("rows", lambda name: name in taken)
    kind = row_of(kept)
    function = function if is_orderable(kind) else ROWS
    held = template(f"struct({row})", holes, kind)
    call = AggCall(rows, function, (held,), time=node.time if function != ROWS else None, top=top)
    parts = (WindowProperty(name, name.removeprefix("window_"), node.type_of(name)) for name in WINDOW_COLUMNS)
    made = WindowAggregate(node.input, node.window, node.time, keys, (call,), tuple(parts), node.zone, span=node.span)
    unnested = Unnest(made, rows, kept)
    return Project(unnested, passing(node.columns, unnested))
