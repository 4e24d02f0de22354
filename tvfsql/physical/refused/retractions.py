"""Changes on streams: refuses operators that need insert-only input, with the reason, and warns of changes that get
lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tvfsql.errors import Hint, OtherMode, UnsupportedError
from tvfsql.physical.words import called, noun, without_window, written
from tvfsql.plan.aggregate.call import retractable
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.analysis.properties import is_changelog
from tvfsql.plan.analysis.sharing import Shared
from tvfsql.plan.changelogs import ChangelogNormalize, FromChangelog, ToChangelog
from tvfsql.plan.joins import RegularJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import (
    Aggregate,
    CurrentWatermark,
    Expand,
    Filter,
    Join,
    Limit,
    Project,
    Scan,
    SetOperation,
    Sink,
    Sort,
    Unnest,
)
from tvfsql.plan.rank import TopN
from tvfsql.plan.tables.internal_columns import CLOCKS
from tvfsql.plan.values.scalar import Scalar
from tvfsql.plan.window import Session
from tvfsql.plan.window_nodes import GlobalWindowAggregate, WindowAggregate, WindowTableFunction

BATCH = OtherMode("batch", detail=", which reads the rows that remain after all changes")
STRATEGY = "RESET 'table.optimizer.agg-phase-strategy'; RESET 'tvfsql.rules.disabled'"
FINAL = OtherMode("batch", "GROUP BY window_start, window_end and the keys")
RANKED = "the rows of the moment: ROW_NUMBER() OVER (ORDER BY n DESC) AS r, and WHERE r <= 10 around it"
FIRST_ROWS = replace(FINAL, before=f"{RANKED}; {FINAL.before}")
WINDOWS = OtherMode(
    "batch", "aggregate it first: GROUP BY window_start, window_end of a window function", link="; or use "
)

CHANGING = WindowAggregate | GlobalWindowAggregate | TopN | RegularJoin  # what makes changes of its own


def refuse_changes(plan: Node) -> None:
    """Raise UnsupportedError if changes reach an operator that would treat them as rows. `streams.changes` refuses them
    into tables that cannot store them.
    """
    for node in plan.walk():
        _refuse_fleeting(node)
        changes = next((child for child in node.children if is_changelog(child)), None)
        passes = is_changelog(node) and not isinstance(node, FromChangelog | CHANGING)
        if changes is None or passes or isinstance(node, Join | ToChangelog | Sink):
            continue
        if (scan := _changed(changes)) is not None:
            raise _refusal(node, scan.table)
        if not isinstance(node, Shared):
            raise _of_groups(node, changes)


def _refuse_fleeting(node: Node) -> None:
    """Raise UnsupportedError for an expression over changes whose value is another one when a row goes."""
    match node:
        case Project(source, items):
            scalars = tuple(item.scalar for item in items if item.name not in CLOCKS)
        case Filter(source, conditions):
            scalars = conditions
        case _:
            return
    made, fleeting = _made_changes(source), next((one for one in scalars if not one.lasting), None)
    if made is None or fleeting is None:
        return
    if isinstance(made, Scan | FromChangelog):
        reason = _unstable(node, fleeting, made.table)
    else:
        changes = f"the changes of {without_window(made)} cannot be retracted"
        reason = f"{written(source, fleeting)} is not deterministic, so {changes}"
    raise UnsupportedError(reason, span=fleeting.span or node.span, hint=BATCH)


def _made_changes(node: Node) -> Node | None:
    """The operator whose changes reach this one's output, as changes or with a sign. None: its rows only come."""
    match node:
        case Scan():
            return node if node.changelog or node.sign else None
        case ChangelogNormalize(source):
            return next(scan for scan in source.walk() if isinstance(scan, Scan))
        case FromChangelog() | TopN():
            return node
        case WindowAggregate() | GlobalWindowAggregate():
            return node if node.changes else None
        case RegularJoin():
            return node if node.sign or is_changelog(node) else None
        case Project() | Filter() | WindowTableFunction() | Expand() | Unnest():
            return _made_changes(node.input)
        case SetOperation(left, right):
            return _made_changes(left) or _made_changes(right)
    return None


def lost_updates(plan: Node) -> Iterator[str]:
    """A line for each TO_CHANGELOG of a stream's logical plan that leaves out rows which say that others are gone:
    UPDATE_BEFORE without UPDATE_AFTER, of a row that no longer meets a condition.
    """
    for node in plan.walk():
        if not isinstance(node, ToChangelog) or not _is_filtered(node.input) or "-U" in dict(node.codes):
            continue
        if "+U" in dict(node.codes) and (scan := _changed(node.input)) is not None:
            rows = f"a row of {scan.table} that no longer meets WHERE leaves with it alone"
            yield f"op_mapping has no code for UPDATE_BEFORE, and {rows}"


def _is_filtered(node: Node) -> bool:
    """Whether conditions leave out changes that operators pass on as they are."""
    return _changed(node) is not None and (isinstance(node, Filter) or any(map(_is_filtered, node.children)))


def _changed(node: Node) -> Scan | FromChangelog | None:
    """The table or query whose changes an operator passes on as they are, or None."""
    if not is_changelog(node) or isinstance(node, CHANGING):
        return None
    if isinstance(node, FromChangelog):
        return node
    if isinstance(node, Scan | ChangelogNormalize):
        return next(scan for scan in node.walk() if isinstance(scan, Scan))
    return next((scan for child in node.children if (scan := _changed(child)) is not None), None)


def _of_groups(node: Node, changes: Node) -> UnsupportedError:
    """The error for an operator that would treat the changes of groups, ranks or joins as rows."""
    by = without_window(next(each for each in changes.walk() if isinstance(each, CHANGING)))
    return UnsupportedError(
        f"{noun(node)} needs final results, but {by} changes its results with each row",
        span=node.span,
        hint=FIRST_ROWS if isinstance(node, Sort | Limit) else FINAL,
    )


def _refusal(node: Node, table: str) -> UnsupportedError:
    reason, span = f"{noun(node)} needs insert-only input, but {table} is a changelog", node.span
    hint: Hint = WINDOWS
    match node:
        case WindowAggregate(window=window, calls=calls):
            final = next((call for call in calls if not retractable(call)), None)
            if final is not None and not final.function.startswith("$"):
                hint, span = BATCH, final.span or span
                fleeting = next((part for part in _read(final) if not part.lasting), None)
                reason = _unstable(node, fleeting, table) if fleeting else f"{called(final)} cannot retract values"
            elif isinstance(window, Session):
                reason, hint = f"SESSION needs insert-only input, but {table} is a changelog", BATCH
            elif window.emit_only_on_change:
                reason = f"tvfsql.cumulate.emit = 'changed' needs insert-only input, but {table} is a changelog"
                hint = "RESET 'tvfsql.cumulate.emit'"
            elif final is None:
                reason, hint = "retractions need aggregation in two phases, which is disabled", STRATEGY
        case CurrentWatermark():
            hint = "leave it out"
        case Aggregate():
            reason, hint = "retractions need aggregation in two phases, which is disabled", STRATEGY
    return UnsupportedError(reason, span=span, hint=hint)


def _unstable(node: Node, scalar: Scalar, table: str) -> str:
    return f"{written(node, scalar)} is not deterministic, so rows of the changelog {table} cannot be retracted"


def _read(call: AggCall) -> tuple[Scalar, ...]:
    return (*call.arguments, *([call.filter] if call.filter else []))
