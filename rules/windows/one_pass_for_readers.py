"""Several windows over the same rows, read at different places of a query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tvfsql.options import Options
from tvfsql.options.known import REUSE
from tvfsql.plan.analysis.sharing import CommonPart, Shared
from tvfsql.plan.node import Node, instances
from tvfsql.plan.nodes import Filter, Item, Project
from tvfsql.plan.tables.internal_columns import WINDOW_NAME
from tvfsql.plan.values.scalar import Scalar, column, free_name
from tvfsql.plan.window import MANY_COPIES, Cumulate, Hop, Several, Tumble
from tvfsql.plan.window_nodes import WindowAggregate
from tvfsql.planner import plan_rule
from tvfsql.rules.sharing import operators_outside_shared
from tvfsql.rules.windows.one_pass import Named, fit_one_pass, is_among, shares, together
from tvfsql.rules.windows.two_phase import is_its_only_slice


@plan_rule
def aggregate_windows_of_readers_in_one_pass(plan: Node, options: Options) -> Node | None:
    """In batch, make several windows in one pass also where a join, or ranks below a UNION ALL, read them.

    Before:
      WindowJoin(leftWindow=[...], rightWindow=[...], joinType=[InnerJoin], where=[window_end = window_end0])
      :- WindowAggregate(groupBy=[item], window=[TUMBLE(time_col=[ts], size=[1 min])], select=[...])
      :  +- Scan(table=[bid], fields=[item, ts])
      +- Project(select=[window_end AS window_end0, n AS n0])
         +- WindowAggregate(groupBy=[item], window=[HOP(time_col=[ts], size=[1 h], slide=[1 min])], select=[...])
            +- Scan(table=[bid], fields=[item, ts])
    After:
      WindowJoin(leftWindow=[...], rightWindow=[...], joinType=[InnerJoin], where=[window_end = window_end0])
      :- Project(select=[item, n, window_end])
      :  +- Filter(where=[window_name = 'tumble'])
      :     +- Shared(reuse_id=[1])
      :        +- WindowAggregate(groupBy=[item], window=[WINDOWS(tumble=[...], hop=[...])], select=[...])
      :           +- Scan(table=[bid], fields=[item, ts])
      +- Project(select=[window_end AS window_end0, n AS n0])
         +- Project(select=[item, n, window_end])
            +- Filter(where=[window_name = 'hop'])
               +- Reused(reference_id=[1])

    Reason: to read rows and to aggregate them to slices costs more than to make windows from slices, and to keep these.

    Holds as aggregate_windows_in_one_pass does. Does not apply where that rule does not, nor
    - if each of the windows is its only slice, as in TUMBLE: Spark makes them without Python;
    - if a row is in 100 windows or more: to keep these costs more than to read the row for each reader;
    - to rows whose expressions can differ between two evaluations, such as RAND();
    - within what the INSERTs of a set share already, and with table.optimizer.reuse-sub-plan-enabled = false;
    - on streams, where a join has one operator for the rows of both sides.
    """
    if options.streaming or not options[REUSE]:
        return None
    made: dict[WindowAggregate, Node] = {}
    number = max((part.number for part in plan.walk() if isinstance(part, CommonPart | Shared)), default=0)
    for alike in _alike(plan):
        if found := _common_part(alike, number + 1, options):
            made |= found
            number += 1
    return _replaced(plan, made) if made else None


def _alike(plan: Node) -> Iterator[list[WindowAggregate]]:
    """The aggregates that differ in the window and in calls, where there are several windows."""
    groups: list[list[WindowAggregate]] = []
    for node in operators_outside_shared(plan):
        if isinstance(node, WindowAggregate) and shares(node.window) and node.is_plain:
            alike = next((group for group in groups if together(group[0], node, "") is not None), None)
            if alike is None:
                groups.append([node])
            else:
                alike.append(node)
    for found in groups:
        distinct = [*dict.fromkeys(found)]
        windows = {node.window for node in distinct}
        lasting = all(scalar.deterministic for node in distinct for scalar in instances(node, Scalar))
        if len(windows) == len(distinct) > 1 and lasting and not all(map(is_its_only_slice, windows)):
            yield distinct


def _common_part(alike: Sequence[WindowAggregate], number: int, options: Options) -> dict[WindowAggregate, Node] | None:
    """What takes the place of each aggregate; None if they do not fit into one pass."""
    named = free_name(WINDOW_NAME, {name for node in alike for name in node.columns})
    whole, renamed = alike[0], [dict[str, str]()]
    windows: Named = ()
    for node in alike:
        assert isinstance(node.window, Tumble | Hop | Cumulate)
        windows = (*windows, (free_name(node.window.name.lower(), [name for name, _ in windows]), node.window))
    for node in alike[1:]:
        found = together(whole, node, named)
        if found is None:
            return None
        whole, names = found
        renamed.append(names)
    if Several(windows).copies >= MANY_COPIES or not fit_one_pass(whole, windows, options):
        return None
    common = CommonPart(replace(whole, window=Several(windows)), number)
    made: dict[WindowAggregate, Node] = {}
    for node, names, window in zip(alike, renamed, windows, strict=True):
        items = (Item(part.name, column(names.get(part.name, part.name), part.type)) for part in node.schema)
        made[node] = Project(Filter(common, (is_among(named, (window,)),)), tuple(items))
    return made


def _replaced(plan: Node, made: Mapping[WindowAggregate, Node]) -> Node:
    known: dict[int, Node] = {}

    def visit(node: Node) -> Node:
        if id(node) not in known:
            new = made.get(node) if isinstance(node, WindowAggregate) else None
            known[id(node)] = new or (node if isinstance(node, Shared) else node.over(visit))
        return known[id(node)]

    return visit(plan)
