"""The INSERTs of a statement set that aggregate the same rows by several windows, or by one window with several
aggregates, as INSERTs of what one plan computes.

Before rules run, because each INSERT is planned separately:

    INSERT INTO a: Aggregate(window_end, item, COUNT(*) AS n)    INSERT INTO b: Aggregate(window_end, item, COUNT(*))
                   +- WindowTableFunction(TUMBLE(...))                          +- WindowTableFunction(HOP(...))

become INSERTs of the rows of one window, of the UNION ALL of both with a column that has the name of the window. Rules
make that in one pass (`aggregate_windows_in_one_pass`). With the same window in both there is one aggregate, which has
the results of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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


@dataclass(frozen=True)
class Together:
    """INSERTs that aggregate the same rows. `common`: one plan that has the results of all. `plans`: those of the
    INSERTs over it, by their place. `windows`: the different ones. `calls`: the aggregates of all."""

    common: Node
    plans: Mapping[int, Node]
    windows: tuple[Tumble | Hop | Cumulate, ...]
    calls: tuple[AggCall, ...]


def over_several_windows(
    plans: Sequence[Node], apart: Callable[[AggCall], bool] = lambda call: False
) -> Iterator[Together]:
    """The plans that aggregate the same rows in different ways. Those with a call that stays `apart` are not together
    with those without one."""
    groups: dict[tuple[Node, bool], dict[int, Aggregate]] = {}
    for place, plan in enumerate(plans):
        found = [part for part in trunks(plan) if isinstance(part, Aggregate) and _window(part)]
        if found:
            kind = _of_any_window(found[-1]), any(map(apart, found[-1].calls))
            groups.setdefault(kind, {})[place] = found[-1]
    for group in groups.values():
        aggregates = [*dict.fromkeys(group.values())]
        windows = tuple(dict.fromkeys(window for one in aggregates if (window := _window(one))))
        if len(aggregates) > 1 and (len(windows) == 1 or common_slices(windows)):
            made = _Made(aggregates, windows)
            over = {place: _replaced(plans[place], one, made.reading(one)) for place, one in group.items()}
            yield Together(made.common, over, windows, made.calls)


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


class _Made:
    """One plan of several aggregates of the same rows: that of all calls, or with several windows a UNION ALL."""

    def __init__(self, aggregates: Sequence[Aggregate], windows: Sequence[Tumble | Hop | Cumulate]) -> None:
        calls = list[AggCall]()
        self.renamed: dict[Aggregate, dict[str, str]] = {}  # the names that the calls of an aggregate have in the plan
        for one in aggregates:
            own = self.renamed.setdefault(one, {})
            for call in one.calls:
                same = next((each for each in calls if replace(each, name=call.name) == call), None)
                if same is None:
                    same = replace(call, name=free_name(call.name, {*one.keys, *(each.name for each in calls)}))
                    calls.append(same)
                own[call.name] = same.name
        self.calls = tuple(calls)
        self.named = free_name(WINDOW_NAME, {*aggregates[0].keys, *(call.name for call in calls)})
        self.names: dict[Tumble | Hop | Cumulate, str] = {}  # of the windows, if there are several
        whole = {window: replace(one, calls=self.calls) for one in aggregates if (window := _window(one))}
        if len(windows) == 1:
            self.common: Node = whole[windows[0]]
            return
        for window in windows:
            self.names[window] = free_name(window.name.lower(), self.names.values())
        sides = [_side(whole[window], self.named, name) for window, name in self.names.items()]
        self.common = reduce(lambda left, right: SetOperation(left, right, "union", True), sides)

    def reading(self, one: Aggregate) -> Node:
        """The rows of one of the aggregates."""
        rows, window, renamed = self.common, _window(one), self.renamed[one]
        if window in self.names:
            name = text(f"'{self.names[window]}'", STRING)
            is_of_window = template("{w} = {n}", {"w": column(self.named, STRING), "n": name}, BOOLEAN)
            among = Among(self.named, frozenset({self.names[window]}))
            rows = Filter(rows, (replace(is_of_window, atomic=False, among=among),))
        items = (Item(part.name, column(renamed.get(part.name, part.name), part.type)) for part in one.schema)
        return Project(rows, tuple(items))


def _side(aggregate: Aggregate, named: str, name: str) -> Node:
    kept = (Item(part.name, column(part.name, part.type)) for part in aggregate.schema)
    return Project(aggregate, (*kept, Item(named, Scalar((f"'{name}'",), STRING, string=name))))


def _replaced(plan: Node, part: Node, other: Node) -> Node:
    return other if plan == part else plan.over(lambda child: _replaced(child, part, other))
