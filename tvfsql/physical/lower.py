"""Lowers logical plans to physical plans and makes the decisions that a logical plan leaves open.

Projections and filters become Calcs, tables get their sources, keyed operators an Exchange, and window operators a
check of their time column. Window columns are computed in a Calc above the window operator, which then merges with the
query's own projection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import singledispatch

from tvfsql.catalog import Catalog, Table
from tvfsql.catalog.connectors.changes import OF_VALUE, STEADY
from tvfsql.errors import TvfSqlError, UnsupportedError
from tvfsql.options import Options
from tvfsql.options.known import LATE_RECORDS, NULL_TIMES, START_MODE, ZONE
from tvfsql.options.words import LateRecords, NullTimes
from tvfsql.physical.copied_rows import is_proctime, refuse_many
from tvfsql.physical.operators import AppliedChanges, Calc, Exchange, RowTimeCheck, StreamSort, TableSourceScan
from tvfsql.physical.refused.operators import refuse_map_keys, refuse_unbounded
from tvfsql.physical.refused.retractions import refuse_changes
from tvfsql.physical.refused.row_level import (
    stream_changelog_normalize,
    stream_current_watermark,
    stream_gap_fill,
    stream_grid_fill,
    stream_interval_join,
    stream_keep_row,
    stream_match,
    stream_over_aggregate,
    stream_temporal_join,
    stream_temporal_sort,
)
from tvfsql.physical.streams.dead_letters import dead_letter_table
from tvfsql.physical.streams.event_times import with_event_times
from tvfsql.physical.streams.firing import emits_changes, firing_of, refuse_firing, with_changes
from tvfsql.physical.streams.history import history_of, refuse_history, with_history
from tvfsql.physical.streams.late import refuse_adjusting, with_late_output
from tvfsql.physical.streams.lower import started, stream_merge, stream_rank, stream_slices
from tvfsql.physical.streams.other_rows import calling_for_rows
from tvfsql.physical.window_operators import (
    BatchSlices,
    GroupByWindow,
    SliceMerge,
    WindowExpand,
    overlap_of,
    window_time,
)
from tvfsql.physical.words import called
from tvfsql.plan import nodes, window_nodes
from tvfsql.plan.aggregate.call import mergeable
from tvfsql.plan.analysis.sharing import CommonPart
from tvfsql.plan.deduplicate import Deduplicate
from tvfsql.plan.gaps import GapFill, GridFill
from tvfsql.plan.joins import EqualPair, IntervalJoin, TemporalJoin, WindowJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item
from tvfsql.plan.over import OverPartials
from tvfsql.plan.patterns import PatternMatch
from tvfsql.plan.rank import Rank, WindowDeduplicate, WindowTopN
from tvfsql.plan.spans import placed
from tvfsql.plan.tables.internal_columns import ADDED, BEFORE, OP, SIGN, WINDOW_COLUMNS, WINDOW_NAME
from tvfsql.plan.values.scalar import Ref, Scalar, column, free_name, quoted, template, text
from tvfsql.plan.values.types import BIGINT, BOOLEAN, STRING, TIMESTAMP, SqlType
from tvfsql.plan.window import Cumulate, Hop, Session, Window
from tvfsql.plan.window_nodes import WindowProperty


def lower(plan: Node, catalog: Catalog, options: Options) -> Node:
    """Return the physical plan of a logical plan."""

    def visit(node: Node) -> Node:
        try:
            return placed(_lower(node, catalog, options), node)
        except TvfSqlError as error:
            error.span = error.span or node.span
            raise

    if not options.streaming:
        return _of_places(plan, visit)
    refuse_changes(plan)
    refuse_unbounded(plan)
    refuse_map_keys(plan)
    plan = with_event_times(plan)
    firing = firing_of(options)
    if firing is not None:
        refuse_firing(plan, firing, options)
    if options[LATE_RECORDS] is LateRecords.ADJUST:
        refuse_adjusting(plan, options)
    physical = _of_places(plan, visit)
    if emits_changes(physical):
        physical = with_changes(physical, catalog)
    physical = with_late_output(physical, catalog, options)
    refuse_history(physical)
    return physical.transform(calling_for_rows)


def _of_places(plan: Node, visit: Callable[[Node], Node]) -> Node:
    """The plan rewritten bottom-up, with an operator of its own for each place: rows and figures are those of a place.
    Only a CommonPart is one for all its readers.
    """
    made: dict[int, Node] = {}

    def whole(node: Node) -> Node:
        if not isinstance(node, CommonPart):
            return visit(node.over(whole))
        if id(node) not in made:
            made[id(node)] = node.over(whole)
        return made[id(node)]

    return whole(plan)


@singledispatch
def _lower(node: Node, catalog: Catalog, options: Options) -> Node:
    return node


@_lower.register
def _(node: nodes.Scan, catalog: Catalog, options: Options) -> Node:
    table = catalog.get(node.table)
    assert isinstance(table, Table), node.table
    streaming = options.streaming and not node.looked_up
    if table.connector is not None and not node.looked_up and not (streaming and node.versions):
        (table.connector.refuse_stream if streaming else table.connector.refuse_batch)(table.name)
    if streaming:
        table = started(table, options[START_MODE])
    sign = free_name(SIGN, lambda name: name in {column.lower() for column in node.columns})
    changelog = node.changelog and table.reads_changes(streaming)
    assert changelog or node.sign or not table.reads_changes(streaming), f"{node.table} was bound for another mode"
    scan = TableSourceScan(
        table,
        node.fields,
        streaming,
        options[ZONE],
        sign if changelog else node.sign,
        None if node.looked_up else dead_letter_table(table, catalog, options),
        versions=node.versions,
        arrival=node.arrival,
        drops_far=table.watermark.column if table.watermark and options[NULL_TIMES] is NullTimes.DROP else "",
    )
    if (history := history_of(table, catalog)) is not None:
        return replace(scan, history=history) if streaming else with_history(scan, history)
    if not changelog:
        return scan
    _refuse_other_metadata(table, node)
    return AppliedChanges(scan, table.name, sign)


def _refuse_other_metadata(table: Table, node: nodes.Scan) -> None:
    """Raise UnsupportedError for metadata that the insert of a row and its delete have of their own: in batch they
    would not cancel each other.
    """
    for name in node.columns:
        key = table.metadata[name].metadata if name in table.metadata else None
        if key is not None and key.startswith(OF_VALUE) and key.removeprefix(OF_VALUE) not in STEADY:
            raise UnsupportedError(
                f"in batch {table.name} is what its changes leave, and each change of a row has a {key} of its own",
                hint=f"--mode streaming, or a table without the column {name}",
            )


@_lower.register
def _(node: nodes.Project, catalog: Catalog, options: Options) -> Node:
    return calc(
        node.input,
        tuple(Item(item.name, _typed(item.scalar, node.type_of(item.name))) for item in node.items),
    )


@_lower.register
def _(node: nodes.Filter, catalog: Catalog, options: Options) -> Node:
    source = node.input.below(node.conditions) if isinstance(node.input, TableSourceScan) else node.input
    below = source if isinstance(source, Calc) else Calc(source, ())
    return below.where(node.conditions)


@_lower.register
def _(node: window_nodes.WindowTableFunction, catalog: Catalog, options: Options) -> Node:
    if isinstance(node.window, Session) and (options.streaming or node.window.limit):
        raise UnsupportedError(
            "SESSION needs the rule hold_rows_until_window_ends, which is disabled",
            hint="RESET 'tvfsql.rules.disabled'",
        )
    made = _expanded(node.input, node.window, node.time, node.zone, options, keys=node.partition)
    kept = tuple(Item(name, column(name, node.type_of(name))) for name in node.input.columns)
    own = tuple(WindowProperty(name, name.removeprefix("window_")) for name in WINDOW_COLUMNS)
    return calc(made, (*kept, *_properties(own, _ends(made.struct), node.zone)))


@_lower.register
def _(node: nodes.Aggregate, catalog: Catalog, options: Options) -> Node:
    return nodes.Aggregate(Exchange(node.input, node.keys), node.keys, node.calls)


@_lower.register
def _(node: Rank, catalog: Catalog, options: Options) -> Node:
    return replace(node, input=Exchange(node.input, node.partition))


@_lower.register
def _(node: nodes.Sort, catalog: Catalog, options: Options) -> Node:
    return StreamSort(Exchange(node.input, ()), node.order) if options.streaming else node


@_lower.register
def _(node: nodes.TemporalSort, catalog: Catalog, options: Options) -> Node:
    return stream_temporal_sort(node, options)


@_lower.register
def _(node: OverPartials, catalog: Catalog, options: Options) -> Node:
    return stream_over_aggregate(node, options)


@_lower.register
def _(node: GapFill, catalog: Catalog, options: Options) -> Node:
    if options.streaming:
        return stream_gap_fill(node, options)
    return replace(node, input=Exchange(node.input, node.partition))


@_lower.register
def _(node: GridFill, catalog: Catalog, options: Options) -> Node:
    if options.streaming:
        return stream_grid_fill(node, options)
    return replace(node, input=Exchange(_checked(node.input, node.time, options), node.partition))


@_lower.register
def _(node: PatternMatch, catalog: Catalog, options: Options) -> Node:
    if node.calls:
        alone = next((call for _, call in node.calls if not mergeable(call)), None)
        if alone is not None:
            raise UnsupportedError(
                f"{called(alone)} does not work in MATCH_RECOGNIZE", span=alone.span, hint="LAST(A.x) or SUM(A.x)"
            )
        raise UnsupportedError(
            "aggregates in MATCH_RECOGNIZE need the rule split_pattern_aggregates, which is disabled",
            hint="RESET 'tvfsql.rules.disabled'",
        )
    if options.streaming:
        return stream_match(node, options)
    return replace(node, input=Exchange(_checked(node.input, node.time, options), node.partition))


@_lower.register(WindowTopN)
@_lower.register(WindowDeduplicate)
def _(node: WindowTopN | WindowDeduplicate, catalog: Catalog, options: Options) -> Node:
    node = replace(node, input=Exchange(node.input, node.partition))
    return stream_rank(node) if options.streaming else node


@_lower.register
def _(node: WindowJoin, catalog: Catalog, options: Options) -> Node:
    overlaps = [1, 1] if options.streaming else [overlap_of(node.left), overlap_of(node.right)]
    left, right = Exchange(node.left, node.left_keys, overlaps[0]), Exchange(node.right, node.right_keys, overlaps[1])
    return replace(node, left=left, right=right)


@_lower.register(nodes.Join)
@_lower.register(nodes.LookupJoin)
def _(node: nodes.Join | nodes.LookupJoin, catalog: Catalog, options: Options) -> Node:
    """In batch, a side with windows that overlap is shuffled like those of a window join."""
    pairs = [pair for one in node.conditions if (pair := EqualPair.of(one, node.left, node.right))]
    overlaps = [overlap_of(node.left), overlap_of(node.right)]
    if options.streaming or not pairs or max(overlaps) == 1:
        return node
    keys = [tuple(pair.left for pair in pairs), tuple(pair.right for pair in pairs)]
    sides = zip((node.left, node.right), keys, overlaps, strict=True)
    left, right = (Exchange(side, by, overlap) if overlap > 1 else side for side, by, overlap in sides)
    return replace(node, left=left, right=right)


@_lower.register
def _(node: Deduplicate, catalog: Catalog, options: Options) -> Node:
    return stream_keep_row(node, options)


@_lower.register
def _(node: nodes.ChangelogNormalize, catalog: Catalog, options: Options) -> Node:
    if options.streaming:
        return stream_changelog_normalize(node, options)
    return replace(node, input=Exchange(node.input, node.key))


@_lower.register
def _(node: nodes.CurrentWatermark, catalog: Catalog, options: Options) -> Node:
    return stream_current_watermark(node, options)


@_lower.register
def _(node: IntervalJoin, catalog: Catalog, options: Options) -> Node:
    return stream_interval_join(node, options)


@_lower.register
def _(node: TemporalJoin, catalog: Catalog, options: Options) -> Node:
    if options.streaming:
        return stream_temporal_join(node, options)
    left, right = (
        _checked(side, time, options) for side, time in ((node.left, node.left_time), (node.right, node.right_time))
    )
    keys = [[pair.left for pair in node.pairs], [pair.right for pair in node.pairs]]
    return replace(node, left=Exchange(left, tuple(keys[0])), right=Exchange(right, tuple(keys[1])))


@_lower.register
def _(node: window_nodes.WindowAggregate, catalog: Catalog, options: Options) -> Node:
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
        source = Exchange(_checked(node.input, node.time, options), node.keys)
        struct = _struct((*node.keys, *(call.name for call in node.calls)))
        made = GroupByWindow(source, node.window, node.time, node.keys, node.calls, struct, node.zone)
    plain = (*node.keys, *(call.name for call in node.calls))
    kept = tuple(Item(name, column(name, made.type_of(name))) for name in plain)
    ends = _ends(struct)
    if isinstance(node.window, Session):  # Spark's session gets a gap that is slightly longer
        less = "{end} - INTERVAL '0.000001' SECOND"
        ends |= {"end": template(less, {"end": ends["end"]}, TIMESTAMP, atomic=False)}
    return calc(made, (*kept, *_properties(node.properties, ends, node.zone)))


@_lower.register
def _(node: window_nodes.LocalWindowAggregate, catalog: Catalog, options: Options) -> Node:
    if options.streaming:
        return stream_slices(node, options)
    source = _checked(node.input, node.time, options)
    if node.of_single_rows:
        passed = tuple(Item(name, column(name, node.input.type_of(name))) for name in (*node.keys, node.time))
        partials = tuple(Item(part.name, part.row) for part in node.partials)
        merges = tuple((part.name, part.merge) for part in node.partials)
        rows = calc(source, (*passed, *partials))
        return BatchSlices(rows, node.window, node.time, node.keys, merges, node.zone)
    return window_nodes.LocalWindowAggregate(
        source, node.window, node.time, node.keys, node.partials, node.rows, node.zone
    )


@_lower.register
def _(node: window_nodes.GlobalWindowAggregate, catalog: Catalog, options: Options) -> Node:
    merged = SliceMerge(Exchange(node.input, node.keys), node.window, node.keys, node.merges, node.rows)
    made: Node = stream_merge(merged, node.input, options, changes=node.changes) if options.streaming else merged
    if BEFORE in made.columns:
        made = Calc(made, (), (_differs_from_before(node),))
    ends = {kind: column(f"window_{kind}", TIMESTAMP) for kind in ("start", "end")}
    ends |= {"name": column(WINDOW_NAME, STRING)}
    keys = tuple(Item(key, column(key, node.type_of(key))) for key in node.keys)
    of_op = template(f"CASE WHEN {{op}} IN {ADDED} THEN 1L ELSE -1L END", {"op": column(OP, STRING)}, BIGINT)
    signs = (Item(node.sign, of_op if node.changes else text("1L", BIGINT)),) if node.sign else ()
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


def calc(source: Node, items: tuple[Item, ...]) -> Node:
    """A projection over an operator. It is merged into a Calc below it, unless an expression would be computed
    twice.
    """
    if not isinstance(source, Calc):
        return Calc(source, items)
    if not source.items:
        return Calc(source.input, items, source.conditions)
    computed = {item.name: item.scalar for item in source.items}
    read = [part.name for item in items for part in item.scalar.parts if isinstance(part, Ref)]
    cheap = all(read.count(name) <= 1 or len(scalar.parts) <= 2 for name, scalar in computed.items())
    if cheap and all(scalar.deterministic for scalar in computed.values()):
        melted = tuple(Item(item.name, _typed(item.scalar.substitute(computed), item.scalar.type)) for item in items)
        return Calc(source.input, melted, source.conditions)
    return Calc(source, items)


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
    source = _checked(source, time, options)
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


def _checked(source: Node, time: str, options: Options) -> Node:
    if isinstance(source, nodes.Expand):  # so that each row is checked and counted once
        return replace(source, input=_checked(source.input, time, options))
    if is_proctime(source, time):  # processing time is never NULL
        return source
    return RowTimeCheck(source, time, _nulls(source, options), options.streaming)


def _nulls(source: Node, options: Options) -> NullTimes:
    """What becomes of rows without a time. In batch over tables of CREATE TABLE without WATERMARK, to which the option
    does not apply, they are dropped and counted, as in Flink.
    """
    tables = [node.source for node in source.walk() if isinstance(node, TableSourceScan)]
    drops = not options.streaming and NULL_TIMES.key not in options.values and bool(tables)
    declared = all(table.connector is not None and table.watermark is None for table in tables)
    return NullTimes.DROP if drops and declared else options[NULL_TIMES]


def _typed(scalar: Scalar, kind: SqlType) -> Scalar:
    return replace(scalar, type=kind or scalar.type)
