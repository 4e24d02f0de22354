"""Lowers window functions and window aggregates.

Window operators get a check of their time column. Window columns are computed in a Calc above the window operator,
which then merges with the query's own projection.
"""

from __future__ import annotations

from tvfsql.errors import UnsupportedError
from tvfsql.options import Options
from tvfsql.options.known import SLICES_IN_PYTHON
from tvfsql.physical.copied_rows import refuse_many
from tvfsql.physical.operators import (
    Calc,
    Exchange,
    calc,
    sign_of_op,
)
from tvfsql.physical.row_times import checked
from tvfsql.physical.streams.lower import stream_merge, stream_slices
from tvfsql.physical.window_operators import (
    BatchSlices,
    GroupByWindow,
    SliceMerge,
    WindowExpand,
    window_time,
)
from tvfsql.physical.words import called
from tvfsql.plan import nodes, window_nodes
from tvfsql.plan.aggregate.call import mergeable
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item
from tvfsql.plan.tables.internal_columns import BEFORE, WINDOW_COLUMNS, WINDOW_NAME
from tvfsql.plan.values.scalar import Ref, Scalar, column, free_name, quoted, template, text
from tvfsql.plan.values.types import BIGINT, BOOLEAN, STRING, TIMESTAMP
from tvfsql.plan.window import Cumulate, Hop, Session, Window
from tvfsql.plan.window_nodes import WindowProperty


def lower_window_function(node: window_nodes.WindowTableFunction, options: Options) -> Node:
    if isinstance(node.window, Session) and (options.streaming or node.window.limit):
        raise UnsupportedError(
            "SESSION needs the rule hold_rows_until_window_ends, which is disabled",
            hint="RESET 'tvfsql.rules.disabled'",
        )
    made = _expanded(node.input, node.window, node.time, node.zone, options, keys=node.partition)
    kept = tuple(Item(name, column(name, node.type_of(name))) for name in node.input.columns)
    own = tuple(WindowProperty(name, name.removeprefix("window_")) for name in WINDOW_COLUMNS)
    return calc(made, (*kept, *_properties(own, _ends(made.struct), node.zone)))


def lower_one_phase(node: window_nodes.WindowAggregate, options: Options) -> Node:
    """Lower to one phase: TUMBLE, and aggregates that cannot be merged from slices. Spark's window() copies each row
    into its windows. Spark has no CUMULATE and no HOP with gaps, so there the rows are copied first.
    """
    made: Node
    refuse_many(node, options)
    if isinstance(node.window, Session) and node.window.limit:
        raise _unmerged(node, "a SESSION with a maximum duration", "leave out the maximum duration")
    if node.window.emit_only_on_change:
        raise _unmerged(node, "tvfsql.cumulate.emit = 'changed'", "RESET 'tvfsql.cumulate.emit'")
    if isinstance(node.window, Cumulate) and node.window.emit_only_on_update:
        raise _unmerged(node, "a CUMULATE that emits only on update", "leave out its sixth argument")
    if isinstance(node.window, Cumulate) or (isinstance(node.window, Hop) and node.window.has_gaps):
        results = tuple(call.name for call in node.calls)
        copies = _expanded(node.input, node.window, node.time, node.zone, options, results)
        struct, keys = copies.struct, (*node.keys, copies.struct)
        made = nodes.Aggregate(Exchange(copies, keys), keys, node.calls)
    else:
        source = Exchange(checked(node.input, node.time, options), node.keys)
        struct = _struct((*node.keys, *(call.name for call in node.calls)))
        made = GroupByWindow(source, node.window, node.time, node.keys, node.calls, struct, node.zone)
    plain = (*node.keys, *(call.name for call in node.calls))
    kept = tuple(Item(name, column(name, made.type_of(name))) for name in plain)
    ends = _ends(struct)
    if isinstance(node.window, Session):  # Spark's session gets a gap that is slightly longer
        less = "{end} - INTERVAL '0.000001' SECOND"
        ends |= {"end": template(less, {"end": ends["end"]}, TIMESTAMP, atomic=False)}
    return calc(made, (*kept, *_properties(node.properties, ends, node.zone)))


def lower_slices(node: window_nodes.LocalWindowAggregate, options: Options) -> Node:
    if options.streaming:
        return stream_slices(node, options)
    source = checked(node.input, node.time, options)
    if node.of_single_rows or (node.keys and options[SLICES_IN_PYTHON]):
        passed = tuple(Item(name, column(name, node.input.type_of(name))) for name in (*node.keys, node.time))
        partials = tuple(Item(part.name, part.row) for part in node.partials)
        merges = tuple((part.name, part.merge) for part in node.partials)
        rows = calc(source, (*passed, *partials))
        return BatchSlices(rows, node.window, node.time, node.keys, merges, node.zone)
    return window_nodes.LocalWindowAggregate(
        source, node.window, node.time, node.keys, node.partials, node.rows, node.zone
    )


def lower_merge(node: window_nodes.GlobalWindowAggregate, options: Options) -> Node:
    merged = SliceMerge(Exchange(node.input, node.keys), node.window, node.keys, node.merges, node.rows)
    made: Node = stream_merge(merged, node.input, options, changes=node.changes) if options.streaming else merged
    if BEFORE in made.columns:
        made = Calc(made, (), (_differs_from_before(node),))
    ends = {kind: column(f"window_{kind}", TIMESTAMP) for kind in ("start", "end")}
    ends |= {"name": column(WINDOW_NAME, STRING)}
    keys = tuple(Item(key, column(key, node.type_of(key))) for key in node.keys)
    signs = (Item(node.sign, sign_of_op() if node.changes else text("1L", BIGINT)),) if node.sign else ()
    return calc(made, (*keys, *node.finish, *_properties(node.properties, ends, node.zone), *signs))


def _differs_from_before(node: window_nodes.GlobalWindowAggregate) -> Scalar:
    """Whether a result of the query's aggregates differs from the one in BEFORE, or BEFORE is empty."""
    before = {name: Scalar((Ref(BEFORE), f".{quoted(name)}")) for name, _ in node.merges}
    results = tuple(dict.fromkeys(item.scalar for item in node.finish))
    if not results:
        return template("{b} IS NULL", {"b": column(BEFORE)}, BOOLEAN, atomic=False)
    same = " AND ".join(f"{{now{i}}} <=> {{then{i}}}" for i in range(len(results)))
    parts = {f"now{i}": now for i, now in enumerate(results)}
    parts |= {f"then{i}": now.substitute(before) for i, now in enumerate(results)}
    return template(f"{{b}} IS NULL OR NOT ({same})", {"b": column(BEFORE), **parts}, BOOLEAN, atomic=False)


def _properties(properties: tuple[WindowProperty, ...], ends: dict[str, Scalar], zone: str) -> tuple[Item, ...]:
    return tuple(
        Item(part.name, window_time(ends["end"], zone) if part.kind == "time" else ends[part.kind])
        for part in properties
    )


def _expanded(
    source: Node,
    window: Window,
    time: str,
    zone: str,
    options: Options,
    taken: tuple[str, ...] = (),
    keys: tuple[str, ...] = (),
) -> WindowExpand:
    if window.emit_only_on_change:
        raise UnsupportedError(
            "tvfsql.cumulate.emit = 'changed' needs GROUP BY window_start, window_end, and no filter before it",
            hint="RESET 'tvfsql.cumulate.emit'",
        )
    if isinstance(window, Cumulate) and window.emit_only_on_update:
        raise UnsupportedError(
            "a CUMULATE that emits only on update needs GROUP BY window_start, window_end, and no filter before it",
            hint="leave out its sixth argument",
        )
    source = checked(source, time, options)
    if isinstance(window, Session):
        source = Exchange(source, keys)
    return WindowExpand(source, window, time, _struct((*source.columns, *taken)), zone, keys)


def _unmerged(node: window_nodes.WindowAggregate, what: str, hint: str) -> UnsupportedError:
    """The error for an option that needs results merged from slices, where the aggregate's are not."""
    alone = next((call for call in node.calls if not mergeable(call)), None)
    if alone is None:
        return UnsupportedError(
            f"{what} needs aggregation in two phases",
            hint="RESET 'table.optimizer.agg-phase-strategy'; RESET 'tvfsql.rules.disabled'",
        )
    return UnsupportedError(f"{called(alone)} does not work with {what}", span=alone.span, hint=hint)


def _struct(taken: tuple[str, ...]) -> str:
    """The name of the struct column with a window's start and end."""
    lowered = {name.lower() for name in taken}  # for Spark, Window and window are the same name
    return free_name("window", [*lowered])


def _ends(struct: str) -> dict[str, Scalar]:
    return {kind: Scalar((Ref(struct), f".{kind}"), TIMESTAMP) for kind in ("start", "end")}
