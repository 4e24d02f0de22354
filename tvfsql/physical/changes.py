"""Changes on streams: what cannot take back rows is refused, with the reason."""

from __future__ import annotations

from tvfsql.errors import UnsupportedError
from tvfsql.plan.call import retractable
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Aggregate, Filter, Project, Scan
from tvfsql.plan.properties import is_changelog
from tvfsql.plan.window import Session
from tvfsql.plan.window_nodes import WindowAggregate

BATCH = "--mode batch, where the rows that are left of all changes are read"
STRATEGY = "RESET 'table.optimizer.agg-phase-strategy', RESET 'tvfsql.rules.disabled'"
WINDOWS = "aggregate them: GROUP BY window_start, window_end of a window function"


def refuse_changes(plan: Node) -> None:
    """Raise UnsupportedError if changes reach an operator that takes them for rows, or come out of the plan."""
    if is_changelog(plan):
        raise UnsupportedError(f"{_table(plan)} is a changelog, and its changes are no rows", hint=WINDOWS)
    for node in plan.walk():
        changes = next((child for child in node.children if is_changelog(child)), None)
        if changes is not None:
            reason, hint = _why(node)
            raise UnsupportedError(f"{_table(changes)} is a changelog, and {reason}: {node.label()}", hint=hint)


def _why(node: Node) -> tuple[str, str]:
    """The reason, and what to do."""
    match node:
        case WindowAggregate(window=window, calls=calls):
            final = next((call for call in calls if not retractable(call)), None)
            if final is not None and final.function.startswith("$"):
                return "rows of windows are held until these end, but no changes", WINDOWS
            if final is not None:
                name = final.arguments[0].sql if final.function == "SPARK" else final.function
                return f"{name} cannot take back a value", BATCH
            if isinstance(window, Session):
                return "a session without one of its rows may have other borders", BATCH
            if window.emit_only_on_change:
                return "tvfsql.cumulate.emit = changed needs rows", "RESET 'tvfsql.cumulate.emit'"
            return "values are taken back in slices, which are switched off", STRATEGY
        case Aggregate():
            return "this aggregate has no window, so on a stream it would never be final", WINDOWS
        case Project() | Filter():
            return "what is another value at another time cannot be taken back", BATCH
    return "this operator cannot take back a row", WINDOWS


def _table(node: Node) -> str:
    return next(scan.table for scan in node.walk() if isinstance(scan, Scan) and scan.changelog)
