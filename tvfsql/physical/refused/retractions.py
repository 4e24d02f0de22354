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
from tvfsql.plan.nodes import Aggregate, CurrentWatermark, Filter, Join, Limit, Project, Scan, Sink, Sort
from tvfsql.plan.rank import TopN
from tvfsql.plan.values.scalar import Scalar
from tvfsql.plan.window import Session
from tvfsql.plan.window_nodes import GlobalWindowAggregate, WindowAggregate

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
        changes = next((child for child in node.children if is_changelog(child)), None)
        passes = is_changelog(node) and not isinstance(node, FromChangelog)
        if changes is None or passes or isinstance(node, Join | ToChangelog | Sink):
            continue
        if (scan := _changed(changes)) is not None:
            raise _refusal(node, scan.table)
        if not isinstance(node, Shared):
            raise _of_groups(node, changes)


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
    if isinstance(node, Project | Filter):
        scalars = (item.scalar for item in node.items) if isinstance(node, Project) else iter(node.conditions)
        fleeting = next((part for part in scalars if not part.lasting), None)
        if fleeting is not None:
            reason = f"{written(node.input, fleeting)} is not deterministic, so the changes of {by} cannot be retracted"
            return UnsupportedError(reason, span=fleeting.span or node.span, hint=BATCH)
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
        case Project() | Filter():
            scalars = (item.scalar for item in node.items) if isinstance(node, Project) else iter(node.conditions)
            fleeting = next((part for part in scalars if not part.lasting), None)
            if fleeting is not None:
                reason, hint, span = _unstable(node, fleeting, table), BATCH, fleeting.span or span
    return UnsupportedError(reason, span=span, hint=hint)


def _unstable(node: Node, scalar: Scalar, table: str) -> str:
    return f"{written(node, scalar)} is not deterministic, so rows of the changelog {table} cannot be retracted"


def _read(call: AggCall) -> tuple[Scalar, ...]:
    return (*call.arguments, *([call.filter] if call.filter else []))
