"""The INSERTs of a statement set that aggregate the rows of one table by several windows, as INSERTs of what one plan
computes.

Before rules run, because each INSERT is planned separately:

    INSERT INTO a: Aggregate(window_end, item, COUNT(*) AS n)    INSERT INTO b: Aggregate(window_end, item, COUNT(*))
                   +- WindowTableFunction(TUMBLE(...))                          +- WindowTableFunction(HOP(...))

become INSERTs of the rows of one window, of the UNION ALL of both with a column that has the name of the window. Rules
make that in one pass (`aggregate_windows_in_one_pass`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.analysis.sharing import trunks
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Aggregate, Filter, Item, Project, SetOperation
from tvfsql.plan.tables.internal_columns import WINDOW_NAME
from tvfsql.plan.values.scalar import Among, Scalar, column, free_name, template, text
from tvfsql.plan.values.types import BOOLEAN, STRING
from tvfsql.plan.window import Cumulate, Hop, Tumble, common_slices
from tvfsql.plan.window_nodes import WindowTableFunction


def over_several_windows(plans: Sequence[Node]) -> list[dict[int, Node]]:
    """The plans that aggregate the same rows by several windows, by their place: as plans over all of these windows."""
    groups: dict[Node, dict[int, Aggregate]] = {}
    for place, plan in enumerate(plans):
        found = [part for part in trunks(plan) if isinstance(part, Aggregate) and _window(part)]
        if found:
            groups.setdefault(_of_any_window(found[-1]), {})[place] = found[-1]
    made = []
    for group in groups.values():
        distinct = [*dict.fromkeys(group.values())]
        windows = [window for one in distinct if (window := _window(one))]
        if len({*windows}) == len(windows) > 1 and common_slices(windows):
            readings = _readings(distinct, windows)
            made.append({place: _replaced(plans[place], one, readings[one]) for place, one in group.items()})
    return made


def _window(node: Aggregate) -> Tumble | Hop | Cumulate | None:
    """The only window below an aggregate, if it is made of slices."""
    functions = [part for part in node.walk() if isinstance(part, WindowTableFunction)]
    if len(functions) != 1 or functions[0].fill or not isinstance(functions[0].window, Tumble | Hop | Cumulate):
        return None
    return functions[0].window


def _of_any_window(node: Aggregate) -> Node:
    """The aggregate without its window and its calls."""
    of_rows = node.transform(
        lambda part: replace(part, window=Tumble(1)) if isinstance(part, WindowTableFunction) else part
    )
    return replace(of_rows, calls=()) if isinstance(of_rows, Aggregate) else of_rows


def _readings(aggregates: Sequence[Aggregate], windows: Sequence[Tumble | Hop | Cumulate]) -> dict[Aggregate, Node]:
    """For each aggregate its rows, as those of one window of a UNION ALL."""
    calls, renamed = list[AggCall](), dict[Aggregate, dict[str, str]]()
    for one in aggregates:
        own = renamed.setdefault(one, {})
        for call in one.calls:
            same = next((each for each in calls if replace(each, name=call.name) == call), None)
            if same is None:
                same = replace(call, name=free_name(call.name, {*one.keys, *(each.name for each in calls)}))
                calls.append(same)
            own[call.name] = same.name
    names, named = list[str](), free_name(WINDOW_NAME, {*aggregates[0].keys, *(call.name for call in calls)})
    for window in windows:
        names.append(free_name(window.name.lower(), names))
    sides = [_side(replace(one, calls=tuple(calls)), named, name) for one, name in zip(aggregates, names, strict=True)]
    union = reduce(lambda left, right: SetOperation(left, right, "union", True), sides)
    return {one: _reading(union, one, named, name, renamed[one]) for one, name in zip(aggregates, names, strict=True)}


def _side(aggregate: Aggregate, named: str, name: str) -> Node:
    kept = (Item(part.name, column(part.name, part.type)) for part in aggregate.schema)
    return Project(aggregate, (*kept, Item(named, Scalar((f"'{name}'",), STRING, string=name))))


def _reading(union: Node, one: Aggregate, named: str, name: str, renamed: Mapping[str, str]) -> Node:
    is_of_window = template("{w} = {n}", {"w": column(named, STRING), "n": text(f"'{name}'", STRING)}, BOOLEAN)
    condition = replace(is_of_window, atomic=False, among=Among(named, frozenset({name})))
    items = (Item(part.name, column(renamed.get(part.name, part.name), part.type)) for part in one.schema)
    return Project(Filter(union, (condition,)), tuple(items))


def _replaced(plan: Node, part: Node, other: Node) -> Node:
    return other if plan == part else plan.over(lambda child: _replaced(child, part, other))
