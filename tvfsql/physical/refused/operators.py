"""What streams reject: operators whose results would never be final. Errors give the reason and a fix."""

from __future__ import annotations

from collections.abc import Iterator

from tvfsql.errors import IN_BATCH, Hint, OtherMode, Span, UnsupportedError
from tvfsql.options import Options
from tvfsql.physical.copied_rows import is_proctime
from tvfsql.physical.interval_bounds import NoInterval, interval_of
from tvfsql.physical.regular_joins import is_regular, join_by_key
from tvfsql.physical.words import BY_EVENT_TIME, BY_WINDOW, CHANGES_OF_RESULTS, WITHOUT_WINDOW, called, origin
from tvfsql.plan import changelogs, nodes, window_nodes
from tvfsql.plan.aggregate.call import mergeable
from tvfsql.plan.analysis.properties import window_of
from tvfsql.plan.analysis.sharing import Shared, of_shared
from tvfsql.plan.analysis.window_joins import NoWindowJoin, window_join
from tvfsql.plan.gaps import GapFill, GridFill
from tvfsql.plan.joins import IntervalJoin, TemporalJoin, WindowJoin
from tvfsql.plan.node import Node, functions_in
from tvfsql.plan.nodes import CurrentWatermark
from tvfsql.plan.over import OverAggregate, OverPartials
from tvfsql.plan.patterns import PatternMatch
from tvfsql.plan.rank import Deduplicate, Rank, TopN, WindowDeduplicate, WindowTopN
from tvfsql.plan.values.types import is_time
from tvfsql.plan.window import Endless, Session
from tvfsql.plan.window_nodes import LocalWindowAggregate
from tvfsql.syntax import ast

WINDOWED = "GROUP BY window_start, window_end of TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE))"
RULES = "RESET 'tvfsql.rules.disabled'"
# what streams have instead of aggregates that cannot be merged: docs/sql/aggregates.md#aggregates-that-cannot-be-merged
INSTEAD = {
    "HISTOGRAM_NUMERIC": "APPROX_PERCENTILE(x, ARRAY[0.1, 0.2, 0.3]) from slices",
    **dict.fromkeys(("COUNT_MIN_SKETCH", "APPROX_TOP_K_ACCUMULATE"), "APPROX_TOP_K(x, 100) from slices"),
}
Reason = tuple[str, Hint, Span | None]  # the problem, the hint, the span


def refuse_unbounded(plan: Node, options: Options) -> None:
    """Raise UnsupportedError for an operator that streams cannot run, with the reason and a hint."""
    for node in plan.walk():
        if found := _of_result(node) if node is plan and isinstance(node, nodes.Limit) else _refusal(node, options):
            reason, hint, span = found
            raise UnsupportedError(reason, span=span or node.span, hint=hint)


def _refusal(node: Node, options: Options) -> Reason | None:
    if _in_micro_batches(node):
        return None
    match node:
        case nodes.Sink(overwrite=True):
            return "INSERT OVERWRITE works in batch only: a stream adds rows", OtherMode("batch", "INSERT INTO"), None
        case nodes.Join():
            return _of_join(node, options)
        case nodes.LookupJoin(conditions=conditions) if function := next(functions_in(conditions), None):
            return f"on streams ON of a lookup join cannot call {function.name}", "call it in a subquery", None
        case nodes.UpsertAggregate():
            return None
        case nodes.Aggregate() | nodes.Distinct():
            return _of_aggregate(node)
        case window_nodes.WindowAggregate():
            return _of_window_aggregate(node)
        case window_nodes.GlobalWindowAggregate():
            return _of_other_time(node)
        case IntervalJoin():
            return _of_joined_time(node)
        case TemporalJoin():
            return _of_row_time(node.left, node.left_time) or _of_row_time(node.right, node.right_time)
        case Deduplicate(proctime=True):
            return None
        case Deduplicate() | OverPartials() | nodes.TemporalSort() | PatternMatch() | GridFill() | CurrentWatermark():
            return _of_row_time(node.input, node.time)
        case WindowJoin(rest=rest) if function := next(functions_in(rest), None):
            reason = f"on streams ON of a window join that is not inner cannot call {function.name}"
            return reason, "call it in a subquery", None
        case WindowJoin():
            return "on streams both sides of a window join must be window functions", BY_WINDOW, None
        case WindowTopN() | WindowDeduplicate() if not comes_by_window(node.input):
            reason = "on streams only rows of a window function, or of an aggregate by window, can be ranked by window"
            return reason, BY_WINDOW, None
        case Rank():
            return _of_rank(node)
        case nodes.SparkSql(row_by_row=False):
            return _of_spark(node)
        case OverAggregate(calls=calls):
            alone = next((call for call in calls if not mergeable(call)), None)
            if alone is None:
                return "on streams OVER needs the rule split_over_aggregate, which is disabled", RULES, None
            return f"on streams {called(alone)} does not work with OVER", IN_BATCH, alone.span
        case nodes.Sort() if not isinstance(node, nodes.TemporalSort):
            return _of_sort(node)
        case nodes.Limit():
            reason = "on streams LIMIT only works at the end of a SELECT, which then stops"
            return reason, OtherMode("batch", "SELECT ... LIMIT 10"), None
        case nodes.SetOperation(kind=kind, all=every) if kind != "union" or not every:
            name = f"{kind.upper()}{' ALL' if every else ''}"
            return (
                f"{name} works in batch only: on a stream it would keep all rows",
                OtherMode("batch", "UNION ALL"),
                None,
            )
    return None


def _of_result(node: nodes.Limit) -> Reason | None:
    """The error for the LIMIT of a whole SELECT."""
    if node.count is not None:
        return None
    return "on streams OFFSET needs a LIMIT", OtherMode("batch", "LIMIT 10 OFFSET 5"), None


def _of_join(node: nodes.Join, options: Options) -> Reason:
    """The error for a join that is neither a window join nor an interval join, nor a regular one."""
    found: object
    if is_regular(node, options):
        rule, found = "make_regular_join", join_by_key(node)
    elif window_of(node.left) is None and window_of(node.right) is None:
        rule, found = "make_interval_join", interval_of(node)
    else:
        rule, found = "make_window_join", window_join(node)
    if isinstance(found, NoInterval | NoWindowJoin):
        return found.reason, found.hint, None
    return f"on streams this join needs the rule {rule}, which is disabled", RULES, None


def _of_aggregate(node: nodes.Aggregate | nodes.Distinct) -> Reason:
    return "on streams this needs the rule update_groups_without_window, which is disabled", RULES, None


def _of_window_aggregate(node: window_nodes.WindowAggregate) -> Reason:
    """The error for an aggregate that is not computed from slices."""
    alone = next((call for call in node.calls if not mergeable(call)), None)
    if alone is None:
        return "on streams an aggregate needs the rule split_local_global, which is disabled", RULES, None
    instead = INSTEAD.get(called(alone).upper(), "")
    return f"{called(alone)} works in batch only", OtherMode("batch", instead), alone.span


def _of_rank(node: Rank) -> Reason:
    if node.by_time and not node.order[0].descending:
        return "on streams ranks by time need the rule count_instead_of_rank, which is disabled", RULES, None
    known, hint = window_of(node.input), f"WHERE {node.name} <= 10 around the query, or QUALIFY {node.name} <= 10"
    if known is None or known.named_by(node.partition) is None:
        reason = "on streams a rank needs an upper limit: without one each row would change the ranks of many"
        return reason, hint, None
    return "on streams a rank needs an upper limit: without one all rows of a window are kept", hint, None


def _of_sort(node: nodes.Sort) -> Reason | None:
    """For an order that is not by the time of windows: windows alone come in order."""
    known, first = window_of(node.input), node.order[0]
    if known is None:
        if not first.descending and all(key.scalar.column is not None for key in node.order):
            return "on streams ORDER BY needs the rule make_temporal_sort, which is disabled", RULES, None
        reason = "on streams ORDER BY takes columns only, and the first is the event time, ascending"
        return reason, BY_EVENT_TIME, None
    if not comes_by_window(node.input):
        return "on streams ORDER BY of rows with windows needs an aggregate by window", BY_WINDOW, None
    named = [key.scalar.column for key in node.order if key.scalar.column is not None]
    telling = [name for name in (*known.times, *known.ends, *known.starts) if known.is_told_by([name])]
    if isinstance(known.window, Session):
        return "on streams ORDER BY does not work over sessions", IN_BATCH, None
    if known.zone not in ("", "UTC"):
        return f"on streams ORDER BY does not work over windows on the clock of {known.zone}", IN_BATCH, None
    if first.descending or len(named) < len(node.order) or not known.is_told_by(named[:1]):
        reason = "on streams ORDER BY takes columns only, and the first is the time of a window, ascending"
        return reason, f"ORDER BY {next(iter(telling), 'window_end')}, ...", None
    return None


def _of_spark(node: nodes.SparkSql) -> Reason:
    if node.reason == ast.OVER:
        return (
            "on streams OVER only works for aggregates, LAG and LEAD ordered by the event time, for ranks within "
            "windows or without, and for the first or last row of a key",
            "PARTITION BY window_start, window_end and WHERE place <= 10, or PARTITION BY no column of a window",
            None,
        )
    if node.reason == ast.SUBQUERY:
        return (
            "on streams a subquery in WHERE must be EXISTS or IN, and compare window_start and window_end, or bound "
            "the time between the rows",
            "WHERE l.window_start = r.window_start AND l.window_end = r.window_end, or r.ts BETWEEN l.ts AND l.ts + "
            "INTERVAL '10' MINUTE",
            None,
        )
    return f"{node.reason} works in batch only", IN_BATCH, None


def _of_other_time(node: window_nodes.GlobalWindowAggregate) -> Reason | None:
    """The error for a time column other than window_time: watermarks of a window operator only follow window_time."""
    local = node.input
    assert isinstance(local, LocalWindowAggregate), local.label()
    by_clock = node.attached is not None or is_proctime(local.input, local.time)
    if by_clock or all(_goes_by_window_time(*leg) for leg in _legs(local.input, local.time)):
        return None
    if any(isinstance(below, TopN) for below in local.walk()):
        return None  # lowering refuses the time
    if any(isinstance(below, changelogs.ToChangelog) for below in local.walk()):
        return CHANGES_OF_RESULTS, WITHOUT_WINDOW, None
    if any(isinstance(below, window_nodes.GlobalWindowAggregate) and below.changes for below in local.walk()):
        reason = "on streams a window cannot read groups without a window: they have no time attribute"
        return reason, BY_WINDOW, None
    return (
        f"on streams a window over windows must use their window_time, not {origin(local.input, local.time)}",
        "SELECT window_time AS rowtime, ... GROUP BY window_start, window_end, window_time",
        None,
    )


def _of_joined_time(node: IntervalJoin) -> Reason | None:
    """The error for a side of an interval join whose rows come from windows, but whose time is not window_time."""
    for side, time in ((node.left, node.left_time), (node.right, node.right_time)):
        if not node.proctime and not all(_goes_by_window_time(*leg) for leg in _legs(side, time)):
            reason = f"on streams a join over windows cannot use {origin(side, time)}: it is not their window_time"
            return reason, IN_BATCH, None
    return None


def _of_row_time(node: Node, time: str) -> Reason | None:
    """The error for a time that the watermarks of the windows or groups below do not follow."""
    if is_proctime(node, time) or not is_time(node.type_of(time)):  # lowering refuses what is no time
        return None
    for leg, name in _legs(node, time):
        made, known = _made_by(leg), window_of(leg)
        if made is None or (known is not None and name in known.times):
            continue
        if isinstance(made.window, Endless):
            what = "SELECT DISTINCT" if not made.finish else "GROUP BY"
            return (
                f"on streams {origin(node, time)} is no time attribute behind {what} without a window",
                BY_WINDOW,
                None,
            )
        return (
            f"on streams the time attribute of windows is window_time, not {origin(node, time)}",
            "SELECT window_time, ... GROUP BY window_start, window_end, window_time",
            None,
        )
    return None


def _made_by(node: Node) -> window_nodes.GlobalWindowAggregate | None:
    """The windows, or groups, whose rows these are; None if another operator with a time of its own is in between."""
    while isinstance(
        node, nodes.Project | nodes.Filter | nodes.Unnest | nodes.Sort | WindowTopN | WindowDeduplicate | GapFill
    ):
        node = node.input
    if isinstance(node, nodes.LookupJoin):
        return _made_by(node.left)
    return node if isinstance(node, window_nodes.GlobalWindowAggregate) else None


def _legs(node: Node, time: str) -> Iterator[tuple[Node, str]]:
    """The inputs of a UNION ALL below projections, temporal joins and OVER, each with its own name for a column."""
    match node:
        case TemporalJoin(left) if time in left.columns:
            yield from _legs(left, time)
        case nodes.Project(source, items) if renamed := next(i.scalar.column for i in items if i.name == time):
            yield from _legs(source, renamed)
        case OverPartials(source) if time == node.time:
            yield from _legs(source, time)
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
    """Whether the operator emits all rows of a window in one micro-batch."""
    if isinstance(node, nodes.Project | nodes.Filter | nodes.Unnest | WindowTopN | WindowDeduplicate | Shared):
        return comes_by_window(node.input)
    if isinstance(node, nodes.LookupJoin):
        return comes_by_window(node.left)
    made = isinstance(node, window_nodes.WindowAggregate | window_nodes.GlobalWindowAggregate | GapFill)
    return made or _in_micro_batches(node)


def _in_micro_batches(node: Node) -> bool:
    """Whether it is a window aggregate or window join over rows that the INSERTs of a set share. All rows of a window
    are then in one micro-batch, as in batch.
    """
    if not isinstance(node, nodes.Aggregate | nodes.Expand | WindowJoin) or not of_shared(node):
        return False
    known = window_of(node)
    return known is not None and known.named_by(node.columns) is not None and all(map(comes_by_window, node.children))
