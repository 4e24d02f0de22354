"""What streams refuse: operators whose results would never be final, with the reason and what to do."""

from __future__ import annotations

from collections.abc import Iterator

from tvfsql.errors import UnsupportedError
from tvfsql.physical.interval_bounds import NoInterval, interval_of
from tvfsql.physical.proctime import is_proctime
from tvfsql.plan import nodes, window_nodes
from tvfsql.plan.call import mergeable
from tvfsql.plan.node import Node
from tvfsql.plan.properties import window_of
from tvfsql.plan.rank import Rank, WindowDeduplicate, WindowTopN
from tvfsql.plan.sharing import Shared, of_shared
from tvfsql.plan.window_join import WindowJoin, window_join
from tvfsql.plan.window_nodes import LocalWindowAggregate
from tvfsql.syntax import ast

REFUSED: dict[type[Node], tuple[str, str]] = {
    nodes.Aggregate: (
        "this aggregate has no window, so on a stream it would never be final",
        "GROUP BY window_start, window_end of a window function, both of them",
    ),
    window_nodes.WindowAggregate: (
        "an aggregate here cannot be merged from slices, or slices are switched off",
        "streams need aggregates of plan.aggregates and table.optimizer.agg-phase-strategy other than ONE_PHASE",
    ),
    WindowJoin: (
        "both sides of a window join are window functions, or what is made of their windows",
        "GROUP BY window_start, window_end and the keys first, or use --mode batch",
    ),
    nodes.Sort: ("a stream has no end, so it cannot be sorted", "leave out ORDER BY, or use --mode batch"),
    nodes.Limit: ("LIMIT on a stream is not built yet", "leave it out, or use --mode batch"),
    nodes.Distinct: ("DISTINCT rows of a stream would need all rows kept", "group by a window"),
    Rank: (
        "a rank without an upper limit keeps all rows of a window",
        "limit it: WHERE place <= 10 around the query, or QUALIFY",
    ),
    nodes.SparkSql: ("this query is one of Spark's own forms, which are not built for streams yet", "--mode batch"),
}


def refuse_unbounded(plan: Node) -> None:
    """Raise UnsupportedError for an operator that streams do not have, with the reason and what to do."""
    for node in plan.walk():
        if isinstance(node, nodes.Join):
            reason, hint = _other_join(node)
            raise UnsupportedError(f"{reason}: {node.label()}", hint=hint)
        if type(node) in REFUSED and not _in_micro_batches(node):
            found = _lacking_set(node) or _of_several_windows(node) or _lacking_merge(node) or _rank_of_rows(node)
            reason, hint = found or REFUSED[type(node)]
            if isinstance(node, nodes.SparkSql) and node.reason == ast.OVER:
                hint = (
                    "rank the rows of windows: PARTITION BY window_start, window_end, with a limit of the rank; "
                    "or keep one row of each key: ROW_NUMBER() OVER (PARTITION BY key ORDER BY time attribute) = 1"
                )
            if isinstance(node, nodes.SparkSql) and node.reason == ast.SUBQUERY:
                hint = "in EXISTS or IN: WHERE l.window_start = r.window_start AND l.window_end = r.window_end"
            raise UnsupportedError(f"{reason}: {node.label()}", hint=hint)
        if isinstance(node, window_nodes.GlobalWindowAggregate):
            _refuse_other_times(node)
        if isinstance(node, WindowTopN | WindowDeduplicate) and not comes_by_window(node.input):
            raise UnsupportedError(
                f"on streams only the rows of a window aggregate come together when their window ends: {node.label()}",
                hint="GROUP BY window_start, window_end and the keys first, or use --mode batch",
            )
        if isinstance(node, nodes.SetOperation) and (node.kind != "union" or not node.all):
            raise UnsupportedError("only UNION ALL works on streams", hint="UNION ALL")


def _other_join(node: nodes.Join) -> tuple[str, str]:
    """Reason and hint for a join that is none of windows, nor of rows within bounds of time."""
    if window_of(node.left) is None and window_of(node.right) is None:
        found = interval_of(node)
        if not isinstance(found, NoInterval):
            found = NoInterval("is left as it is: the rule make_interval_join is switched off")
        return (
            f"on streams rows are joined within bounds of time, or within windows, and this join {found.reason}",
            found.hint,
        )
    made = window_join(node)
    why = made if isinstance(made, str) else "is left as it is: the rule make_window_join is switched off"
    return (
        f"on streams only windows are joined, and this join {why}",
        "ON l.window_start = r.window_start AND l.window_end = r.window_end, of the same windows",
    )


def _lacking_set(node: Node) -> tuple[str, str] | None:
    """Reason and hint for an aggregate whose window some grouping set lacks."""
    expand = node.input if isinstance(node, nodes.Aggregate) else None
    if not isinstance(expand, nodes.Expand):
        return None
    known, kept = window_of(expand.input), window_of(expand)
    if known is None or not known.named_by(known.starts + known.ends) or (kept and kept.named_by(expand.columns)):
        return None
    return (
        "a grouping set here lacks window_start or window_end, so on a stream its groups would never be final",
        "GROUP BY window_start, window_end, GROUPING SETS (...), with both outside the sets or in every set",
    )


def _of_several_windows(node: Node) -> tuple[str, str] | None:
    """Reason and hint for an aggregate over a UNION ALL whose parts have windows that differ."""
    below = node.input if isinstance(node, nodes.Aggregate) else None
    while isinstance(below, nodes.Project | nodes.Filter):
        below = below.input
    if not isinstance(below, nodes.SetOperation) or window_of(below) or not all(map(window_of, below.children)):
        return None
    return (
        "the rows of this aggregate come from different windows, so a group is of no window in particular",
        "aggregate before UNION ALL, or use the same window function in each of its parts",
    )


def _lacking_merge(node: Node) -> tuple[str, str] | None:
    """Reason and hint for an aggregate that a user wrote without merge()."""
    calls = node.calls if isinstance(node, window_nodes.WindowAggregate) else ()
    lacking = next((call.user for call in calls if call.user and not mergeable(call, streaming=True)), None)
    if lacking is None:
        return None
    return (
        f"{lacking.name} has no merge(), without which its windows cannot be made from slices, as streams need",
        f"def merge(self, accumulator, accumulators) in {lacking.path}, or --mode batch",
    )


def _rank_of_rows(node: Node) -> tuple[str, str] | None:
    """Reason and hint for a rank by event time that is no deduplication."""
    if not isinstance(node, Rank) or window_of(node.input) is not None:
        return None
    return (
        "of rows that have no window, streams keep the first or the last one of each key, not those of other ranks",
        f"WHERE {node.name} = 1 around the query, or QUALIFY; PARTITION BY window_start, window_end for other ranks",
    )


def _refuse_other_times(node: window_nodes.GlobalWindowAggregate) -> None:
    """Only the last moment of a window comes with watermarks out of an operator that makes windows."""
    local = node.input
    assert isinstance(local, LocalWindowAggregate), local.label()
    if is_proctime(local.input, local.time):
        return
    if node.attached is None and not all(_goes_by_window_time(*leg) for leg in _legs(local.input, local.time)):
        raise UnsupportedError(
            f"on streams a window over windows goes by their window_time, and {local.time} is another time",
            hint="SELECT window_time AS rowtime, ... GROUP BY window_start, window_end, window_time",
        )


def _legs(node: Node, time: str) -> Iterator[tuple[Node, str]]:
    """The relations that a UNION ALL puts together, each with what it calls a column; under projections of it."""
    match node:
        case nodes.Project(source, items) if renamed := next(i.scalar.column for i in items if i.name == time):
            yield from _legs(source, renamed)
        case nodes.SetOperation(left, right):
            yield from _legs(left, time)
            yield from _legs(right, right.columns[left.columns.index(time)])
        case _:
            yield node, time


def _goes_by_window_time(node: Node, time: str) -> bool:
    over_windows = any(isinstance(below, window_nodes.GlobalWindowAggregate) for below in node.walk())
    known = window_of(node)
    return not over_windows or (known is not None and time in known.times)


def comes_by_window(node: Node) -> bool:
    """Whether all rows of a window leave the operator in one micro-batch."""
    if isinstance(node, nodes.Project | nodes.Filter | nodes.Unnest | WindowTopN | WindowDeduplicate | Shared):
        return comes_by_window(node.input)
    made = isinstance(node, window_nodes.WindowAggregate | window_nodes.GlobalWindowAggregate)
    return made or _in_micro_batches(node)


def _in_micro_batches(node: Node) -> bool:
    """Whether it is an aggregate by window or a join of windows over what INSERTs of a set share: all rows of a window
    are in the micro-batch that it works on, as in batch."""
    if not isinstance(node, nodes.Aggregate | nodes.Expand | WindowJoin) or not of_shared(node):
        return False
    known = window_of(node)
    return known is not None and known.named_by(node.columns) is not None and all(map(comes_by_window, node.children))
