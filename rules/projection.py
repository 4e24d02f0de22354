"""Projections and filters: fewer of them, lower down, with fewer columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import singledispatch

from tvfsql.options import Options
from tvfsql.plan.analysis.sharing import CommonPart, Shared
from tvfsql.plan.changelogs import ChangelogNormalize
from tvfsql.plan.gaps import GapFill
from tvfsql.plan.joins import IntervalJoin, RegularJoin, TemporalJoin, WindowJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import (
    Aggregate,
    CurrentWatermark,
    Expand,
    Filter,
    Item,
    Join,
    Limit,
    LookupJoin,
    Project,
    Scan,
    SetOperation,
    Sort,
    TemporalSort,
    Unnest,
)
from tvfsql.plan.over import OverAggregate
from tvfsql.plan.patterns import PatternMatch
from tvfsql.plan.rank import Deduplicate, Rank, TopN, WindowDeduplicate, WindowTopN
from tvfsql.plan.tables.internal_columns import WINDOW_COLUMNS
from tvfsql.plan.values.scalar import Ref, Scalar, column
from tvfsql.plan.window_nodes import GlobalWindowAggregate, WindowAggregate, WindowTableFunction
from tvfsql.planner import rule


@rule
def merge_projects(node: Node, options: Options) -> Node | None:
    """Combine two projections into one.

    Before:
      Project(select=[a + 1 AS b])
      +- Project(select=[x * 2 AS a])
    After:
      Project(select=[(x * 2) + 1 AS b])

    Holds because an expression can replace the column that it computes. Does not apply if an expensive or
    non-deterministic column would be computed more than once.
    """
    match node:
        case Project(Project(source, inner), outer):
            computed = {item.name: item.scalar for item in inner}
            if all(worth_repeating(scalar) or uses(outer, name) <= 1 for name, scalar in computed.items()):
                return Project(
                    source,
                    tuple(Item(item.name, typed(item.scalar.substitute(computed), node, item.name)) for item in outer),
                )
    return None


@rule
def drop_idle_project(node: Node, options: Options) -> Node | None:
    """Drop a projection that returns exactly its input columns.

    Before:
      Project(select=[a, b])
      +- Scan(table=[t], fields=[a, b])
    After:
      Scan(table=[t], fields=[a, b])

    Holds because names, types and order are the same.
    """
    match node:
        case Project(source, items):
            if [item.name for item in items] == [item.scalar.column for item in items] == list(source.columns):
                return source if source.schema == node.schema else None
    return None


@rule
def merge_filters(node: Node, options: Options) -> Node | None:
    """Combine two filters into one.

    Before:
      Filter(where=[a > 1])
      +- Filter(where=[b > 2])
    After:
      Filter(where=[b > 2 AND a > 1])

    Holds because a row passes both filters if it meets all their conditions. The conditions of the lower filter stay
    first.
    """
    match node:
        case Filter(Filter(source, inner), outer):
            return Filter(source, (*inner, *(one for one in outer if one not in inner)))
    return None


@rule
def push_filter_below_project(node: Node, options: Options) -> Node | None:
    """Filter rows before columns are computed.

    Before:
      Filter(where=[b > 2])
      +- Project(select=[a, x * 2 AS b])
    After:
      Project(select=[a, x * 2 AS b])
      +- Filter(where=[(x * 2) > 2])

    Holds because a condition on a computed column can be written over the inputs of that column. In batch, a bound of a
    time that rises with its only input is also one of that input, which a scan can use: what is after noon in
    TO_TIMESTAMP_LTZ(ms, 3) is after the milliseconds of noon in `ms`. Does not apply to non-deterministic expressions.
    """
    match node:
        case Filter(Project(source, items), conditions):
            computed = {item.name: item.scalar for item in items}
            below = tuple(condition.substitute(computed) for condition in conditions)
            if all(condition.deterministic for condition in below):
                bounds = [] if options.streaming else _bounds_of_inputs(conditions, computed, source)
                return Project(Filter(source, tuple(dict.fromkeys((*below, *bounds)))), items)
    return None


def _bounds_of_inputs(conditions: Iterable[Scalar], computed: Mapping[str, Scalar], source: Node) -> Iterator[Scalar]:
    """What bounds of computed times say of the columns that these are computed from."""
    for bound in (each for condition in conditions for each in condition.bounds):
        rising = computed[bound.column].rising
        if rising is not None and computed[bound.column].deterministic:
            yield from rising.conditions(bound, source.type_of(rising.column))


@rule
def push_filter_below_aggregate(node: Node, options: Options) -> Node | None:
    """Drop groups before they are aggregated.

    Before:
      Filter(where=[item = 'a' AND n > 1])
      +- Aggregate(groupBy=[item], select=[item, COUNT(*) AS n])
    After:
      Filter(where=[n > 1])
      +- Aggregate(groupBy=[item], select=[item, COUNT(*) AS n])
         +- Filter(where=[item = 'a'])

    Holds because a condition on keys is the same for all rows of a group. Three kinds of conditions stay above: those
    on window columns, which would separate the aggregate from its window function; those on no column, because a global
    aggregate returns a row even for empty input; and those on keys that some grouping sets lack, because Expand makes
    them NULL.
    """
    match node:
        case Filter(Aggregate(source, keys, calls), conditions):
            movable = set(keys) - set(WINDOW_COLUMNS)
            if isinstance(source, Expand):
                movable -= {source.id, *source.keys}
            below = tuple(one for one in conditions if one.columns and one.columns <= movable and one.deterministic)
            above = tuple(one for one in conditions if one not in below)
            if below:
                moved = Aggregate(Filter(source, below), keys, calls)
                return Filter(moved, above) if above else moved
    return None


@rule
def prune_columns(node: Node, options: Options) -> Node | None:
    """Read and compute only the columns that operators above use.

    Before:
      Aggregate(groupBy=[k], select=[k, SUM(a) AS s])
      +- Scan(table=[t], fields=[k, a, b, c])
    After:
      Aggregate(groupBy=[k], select=[k, SUM(a) AS s])
      +- Scan(table=[t], fields=[k, a])

    Holds because a column that no operator above reads does not affect the result. Does not apply to a changelog that
    is read as changes: a deletion removes a row that is equal in all columns.
    """
    match node:
        case Project(CommonPart()):
            return None  # which `narrow_common_parts` narrows to what all its readers use
        case Project(source, items):
            needed = frozenset(name for item in items for name in item.scalar.columns)
            narrowed = narrow(source, needed)
            return Project(narrowed, items) if narrowed is not source else None
        case Aggregate(source, keys, calls):
            narrowed = narrow(source, frozenset(keys).union(*(call.columns for call in calls)))
            return Aggregate(narrowed, keys, calls) if narrowed is not source else None
        case WindowAggregate(source, keys=keys, calls=calls):
            narrowed = narrow(source, frozenset({node.time, *keys}).union(*(call.columns for call in calls)))
            return replace(node, input=narrowed) if narrowed is not source else None
    return None


@singledispatch
def narrow(node: Node, needed: frozenset[str]) -> Node:
    """Return the operator without the columns that are not needed, as far as possible; else itself."""
    return node


@narrow.register
def _(node: Scan, needed: frozenset[str]) -> Node:
    if node.changelog:
        return node
    kept = tuple(field for field in node.fields if field.name in needed) or node.fields[:1]
    return replace(node, fields=kept) if kept != node.fields else node


@narrow.register
def _(node: ChangelogNormalize, needed: frozenset[str]) -> Node:
    source = narrow(node.input, needed | node.reads) if not node.changelog else node.input
    return replace(node, input=source) if source is not node.input else node


@narrow.register
def _(node: Project, needed: frozenset[str]) -> Node:
    kept = tuple(item for item in node.items if item.name in needed) or node.items[:1]
    if kept == node.items:
        return node
    # all projections of a long chain at once, not one in each pass of the planner
    return Project(narrow(node.input, frozenset(name for item in kept for name in item.scalar.columns)), kept)


@narrow.register
def _(node: CommonPart, needed: frozenset[str]) -> Node:
    return _without_others(node, needed) if needed & {*node.columns} else node


@narrow.register
def _(node: Filter, needed: frozenset[str]) -> Node:
    source = narrow(node.input, needed.union(*(condition.columns for condition in node.conditions)))
    return Filter(source, node.conditions) if source is not node.input else node


@narrow.register
def _(node: Sort, needed: frozenset[str]) -> Node:
    source = narrow(node.input, needed.union(*(key.scalar.columns for key in node.order)))
    return Sort(source, node.order) if source is not node.input else node


@narrow.register
def _(node: Limit, needed: frozenset[str]) -> Node:
    source = narrow(node.input, needed)
    return replace(node, input=source) if source is not node.input else node


@narrow.register
def _(node: SetOperation, needed: frozenset[str]) -> Node:
    """Only for UNION ALL, because the other set operations compare whole rows."""
    if node.kind != "union" or not node.all:
        return node
    pairs = [*zip(node.left.columns, node.right.columns, strict=True)]
    kept = [pair for pair in pairs if pair[0] in needed] or pairs[:1]
    if kept == pairs:
        return node
    left, right = zip(*kept, strict=True)
    return replace(
        node, left=Project(node.left, passing(left, node.left)), right=Project(node.right, passing(right, node.right))
    )


@narrow.register
def _(node: Aggregate, needed: frozenset[str]) -> Node:
    calls = tuple(call for call in node.calls if call.name in needed)
    calls = calls or (node.calls if not node.keys else ())[:1]  # without keys, its single row needs a column
    return replace(node, calls=calls) if calls != node.calls else node


@narrow.register
def _(node: WindowAggregate, needed: frozenset[str]) -> Node:
    if node.window.emit_only_on_change:
        return node  # all its results decide which steps are emitted
    calls = tuple(call for call in node.calls if call.name in needed)
    return replace(node, calls=calls) if calls != node.calls else node


@narrow.register
def _(node: GlobalWindowAggregate, needed: frozenset[str]) -> Node:
    """Only above slices that others read too; where it alone reads them, its calls were left out before."""
    if not isinstance(node.input, Shared) or node.window.emit_only_on_change:
        return node
    finish = tuple(item for item in node.finish if item.name in needed)
    properties = tuple(part for part in node.properties if part.name in needed)
    read = {node.rows}.union(*(item.scalar.columns for item in finish))
    merges = tuple(merge for merge in node.merges if merge[0] in read)
    made = replace(node, finish=finish, properties=properties, merges=merges)
    return node if made == node else made


@narrow.register
def _(node: Unnest, needed: frozenset[str]) -> Node:
    own = {field.name for field in node.fields}
    source = narrow(node.input, (needed - own) | {node.rows})
    return replace(node, input=source) if source is not node.input else node


@narrow.register
def _(node: Expand, needed: frozenset[str]) -> Node:
    source = narrow(node.input, (needed - {node.id}).union(node.keys))
    return Expand(source, node.keys, node.sets, node.id) if source is not node.input else node


@narrow.register
def _(node: WindowTableFunction, needed: frozenset[str]) -> Node:
    source = narrow(node.input, needed | {node.time, *node.partition})
    return replace(node, input=source) if source is not node.input else node


@narrow.register
def _(node: OverAggregate, needed: frozenset[str]) -> Node:
    pairs = [(call, frame) for call, frame in zip(node.calls, node.frames, strict=True) if call.name in needed]
    if not pairs:
        return narrow(node.input, needed)
    calls, frames = (tuple(part) for part in zip(*pairs, strict=True))
    wanted = needed & {*node.input.columns} | replace(node, calls=calls, frames=frames).reads
    source = _without_others(narrow(node.input, wanted), wanted)
    same = source is node.input and len(calls) == len(node.calls)
    return node if same else replace(node, input=source, calls=calls, frames=frames)


@narrow.register
def _(node: GapFill, needed: frozenset[str]) -> Node:
    values = tuple(each for each in node.values if each[0] in needed)
    wanted = frozenset((*node.partition, *(part.name for part in node.properties), *(name for name, _ in values)))
    source = _without_others(narrow(node.input, wanted), wanted)
    return node if source is node.input else replace(node, input=source, values=values)


@narrow.register
def _(node: PatternMatch, needed: frozenset[str]) -> Node:
    calls = tuple(each for each in node.calls if each[1].name in needed)
    navigations = tuple(each for each in node.navigations if each.name in needed)
    made = replace(node, calls=calls, navigations=navigations)
    source = _without_others(narrow(node.input, made.reads), made.reads)
    same = source is node.input and made == node
    return node if same else replace(made, input=source)


@narrow.register(Deduplicate)
@narrow.register(TemporalSort)
@narrow.register(Rank)
@narrow.register(WindowTopN)
@narrow.register(WindowDeduplicate)
def _(node: Deduplicate | TemporalSort | Rank | WindowTopN | WindowDeduplicate, needed: frozenset[str]) -> Node:
    source = narrow(node.input, needed & set(node.input.columns) | node.reads)
    return replace(node, input=source) if source is not node.input else node


@narrow.register
def _(node: TopN, needed: frozenset[str]) -> Node:
    shown = tuple(name for name in node.shown if name in needed)
    shown = shown or (() if node.name in needed else node.shown[:1])
    key = node.key if node.key is not None and {*node.key} <= {*shown} else None
    made = replace(node, shown=shown, key=key, name=node.name if node.name in needed else "")
    wanted = made.reads | {*shown}
    source = _without_others(narrow(node.input, wanted), wanted)
    return node if made == node and source is node.input else replace(made, input=source)


@narrow.register
def _(node: CurrentWatermark, needed: frozenset[str]) -> Node:
    source = _without_others(narrow(node.input, wanted := needed | {node.time}), wanted)
    return replace(node, input=source) if source is not node.input else node


@narrow.register(Join)
@narrow.register(LookupJoin)
@narrow.register(WindowJoin)
def _(node: Join | LookupJoin | WindowJoin, needed: frozenset[str]) -> Node:
    wanted = needed.union(*(one.columns for one in node.conditions))
    left, right = narrow(node.left, wanted), narrow(node.right, wanted)
    if isinstance(node, WindowJoin):  # on streams it buffers all its columns
        left, right = _without_others(left, wanted), _without_others(right, wanted)
    same = left is node.left and right is node.right
    return node if same else replace(node, left=left, right=right)


@narrow.register(IntervalJoin)
@narrow.register(RegularJoin)
@narrow.register(TemporalJoin)
def _(node: IntervalJoin | RegularJoin | TemporalJoin, needed: frozenset[str]) -> Node:
    wanted = needed | node.reads
    left, right = (_without_others(narrow(side, wanted), wanted) for side in (node.left, node.right))
    return node if left is node.left and right is node.right else replace(node, left=left, right=right)


def _without_others(node: Node, wanted: frozenset[str]) -> Node:
    """A projection to the wanted columns."""
    kept = tuple(name for name in node.columns if name in wanted)
    return node if kept == node.columns else Project(node, passing(kept, node))


def typed(scalar: Scalar, node: Node, name: str) -> Scalar:
    """The scalar with the type of that column of the operator."""
    return Scalar(
        scalar.parts,
        node.type_of(name),
        scalar.atomic,
        scalar.facts,
        scalar.span,
        rising=scalar.rising,
        string=scalar.string,
    )


def worth_repeating(scalar: Scalar) -> bool:
    """Whether computing it twice is cheap: it is a column or a literal."""
    return scalar.deterministic and len(scalar.parts) <= 1


def uses(items: tuple[Item, ...], name: str) -> int:
    return sum(1 for item in items for part in item.scalar.parts if part == Ref(name))


def passing(names: tuple[str, ...], source: Node) -> tuple[Item, ...]:
    """Items that pass columns through unchanged."""
    return tuple(Item(name, column(name, source.type_of(name))) for name in names)
