"""Lowers logical plans to physical plans and makes the decisions that a logical plan leaves open.

Projections and filters become Calcs, tables get their sources, and keyed operators an Exchange.
`physical.lower_windows` has the window operators.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import singledispatch

from tvfsql.catalog import Catalog, Table
from tvfsql.catalog.connectors.changes import OF_VALUE, STEADY
from tvfsql.errors import OtherMode, TvfSqlError, UnsupportedError
from tvfsql.options import Options
from tvfsql.options.known import KEY_GROUPS, LATE_RECORDS, NULL_TIMES, START_MODE, ZONE
from tvfsql.options.words import LateRecords, NullTimes
from tvfsql.physical.lower_windows import lower_merge, lower_one_phase, lower_slices, lower_window_function
from tvfsql.physical.operators import (
    AppliedChanges,
    Calc,
    Exchange,
    StreamSort,
    StreamUpsertAggregate,
    TableSourceScan,
    calc,
    sign_of_op,
    typed,
)
from tvfsql.physical.refused.kept_values import refuse_kept
from tvfsql.physical.refused.operators import refuse_unbounded
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
    stream_regular_join,
    stream_temporal_join,
    stream_temporal_sort,
    stream_updating_top_n,
)
from tvfsql.physical.row_times import checked
from tvfsql.physical.streams.changes import emits_changes, to_changelog, with_changes
from tvfsql.physical.streams.dead_letters import dead_letter_table
from tvfsql.physical.streams.event_times import with_event_times
from tvfsql.physical.streams.firing import firing_of, refuse_firing
from tvfsql.physical.streams.history import history_of, refuse_history, with_history
from tvfsql.physical.streams.late import refuse_adjusting, with_late_output
from tvfsql.physical.streams.lower import started, stream_rank
from tvfsql.physical.streams.other_rows import calling_for_rows
from tvfsql.physical.window_operators import (
    overlap_of,
)
from tvfsql.physical.words import called
from tvfsql.plan import changelogs, nodes, window_nodes
from tvfsql.plan.aggregate.call import mergeable
from tvfsql.plan.analysis.sharing import CommonPart
from tvfsql.plan.gaps import GapFill, GridFill
from tvfsql.plan.joins import EqualPair, IntervalJoin, RegularJoin, TemporalJoin, WindowJoin
from tvfsql.plan.node import Node, Schema
from tvfsql.plan.nodes import Item
from tvfsql.plan.over import OverPartials
from tvfsql.plan.patterns import PatternMatch
from tvfsql.plan.rank import Deduplicate, Rank, TopN, WindowDeduplicate, WindowTopN
from tvfsql.plan.spans import placed
from tvfsql.plan.stream import StreamContext
from tvfsql.plan.tables.internal_columns import SIGN
from tvfsql.plan.values.scalar import column, free_name


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
    refuse_unbounded(plan, options)
    refuse_kept(plan)
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
    if node.op:
        table = table.changed_by(node.op, node.codes, ())
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
        if not streaming:
            return with_history(scan, history)
        return replace(scan, history=history, history_where=node.history_where)
    if not changelog:
        return scan
    if streaming:
        return replace(scan, sign="")  # only TO_CHANGELOG reads changes as they are
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
                hint=OtherMode("streaming", after=f"a table without the column {name}"),
            )


@_lower.register
def _(node: nodes.Project, catalog: Catalog, options: Options) -> Node:
    return calc(
        node.input,
        tuple(Item(item.name, typed(item.scalar, node.type_of(item.name))) for item in node.items),
    )


@_lower.register
def _(node: nodes.Filter, catalog: Catalog, options: Options) -> Node:
    source = node.input.below(node.conditions) if isinstance(node.input, TableSourceScan) else node.input
    below = source if isinstance(source, Calc) else Calc(source, ())
    return below.where(node.conditions)


@_lower.register
def _(node: nodes.Aggregate, catalog: Catalog, options: Options) -> Node:
    return nodes.Aggregate(Exchange(node.input, node.keys), node.keys, node.calls)


@_lower.register
def _(node: nodes.UpsertAggregate, catalog: Catalog, options: Options) -> Node:
    context = StreamContext(key_groups=options[KEY_GROUPS])
    return StreamUpsertAggregate(Exchange(node.input, node.keys), node.keys, node.calls, context)


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
    return replace(node, input=Exchange(checked(node.input, node.time, options), node.partition))


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
    return replace(node, input=Exchange(checked(node.input, node.time, options), node.partition))


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
def _(node: TopN, catalog: Catalog, options: Options) -> Node:
    return _with_sign(stream_updating_top_n(node, options), replace(node, sign="").schema, node.sign)


def _with_sign(node: Node, columns: Schema, sign: str) -> Node:
    """The changes of an operator: these columns, and with `sign` what each change does to its row."""
    own = tuple(Item(part.name, column(part.name, part.type)) for part in columns)
    return Calc(node, (*own, *((Item(sign, sign_of_op()),) if sign else ())))


@_lower.register
def _(node: Deduplicate, catalog: Catalog, options: Options) -> Node:
    return stream_keep_row(node, options)


@_lower.register
def _(node: changelogs.ChangelogNormalize, catalog: Catalog, options: Options) -> Node:
    if options.streaming:
        return stream_changelog_normalize(node, options)
    return replace(node, input=Exchange(node.input, node.key))


@_lower.register
def _(node: changelogs.FromChangelog, catalog: Catalog, options: Options) -> Node:
    if node.sign or options.streaming:
        return node
    sign = free_name(SIGN, lambda name: name in {column.lower() for column in node.columns})
    return AppliedChanges(replace(node, sign=sign), node.table, sign)


@_lower.register
def _(node: changelogs.ToChangelog, catalog: Catalog, options: Options) -> Node:
    return to_changelog(node)


@_lower.register
def _(node: nodes.CurrentWatermark, catalog: Catalog, options: Options) -> Node:
    return stream_current_watermark(node, options)


@_lower.register
def _(node: IntervalJoin, catalog: Catalog, options: Options) -> Node:
    return stream_interval_join(node, options)


@_lower.register
def _(node: RegularJoin, catalog: Catalog, options: Options) -> Node:
    made = stream_regular_join(node, options)
    return _with_sign(made, node.shown, node.sign) if made.updating else made


@_lower.register
def _(node: TemporalJoin, catalog: Catalog, options: Options) -> Node:
    if options.streaming:
        return stream_temporal_join(node, options)
    left, right = (
        checked(side, time, options) for side, time in ((node.left, node.left_time), (node.right, node.right_time))
    )
    keys = [[pair.left for pair in node.pairs], [pair.right for pair in node.pairs]]
    return replace(node, left=Exchange(left, tuple(keys[0])), right=Exchange(right, tuple(keys[1])))


@_lower.register
def _(node: window_nodes.WindowTableFunction, catalog: Catalog, options: Options) -> Node:
    return lower_window_function(node, options)


@_lower.register
def _(node: window_nodes.WindowAggregate, catalog: Catalog, options: Options) -> Node:
    return lower_one_phase(node, options)


@_lower.register
def _(node: window_nodes.LocalWindowAggregate, catalog: Catalog, options: Options) -> Node:
    return lower_slices(node, options)


@_lower.register
def _(node: window_nodes.GlobalWindowAggregate, catalog: Catalog, options: Options) -> Node:
    return lower_merge(node, options)
