"""Early and late firing: Flink's emit options, and the plans that cannot follow them. Source:
semantics.md#early-and-late-firing.
"""

from __future__ import annotations

from collections.abc import Iterable

from tvfsql.errors import OptionError, UnsupportedError
from tvfsql.options import Options
from tvfsql.options.known import EARLY_DELAY, EARLY_FIRE, LATE_DELAY, LATE_FIRE, LATE_RESULTS, LATENESS
from tvfsql.options.words import LateResults
from tvfsql.physical.row_operators import StreamRegularJoin, StreamUpdatingTopN
from tvfsql.physical.streams.changes import emits_changes
from tvfsql.physical.window_operators import StreamSliceMerge
from tvfsql.physical.words import noun, without_window, written
from tvfsql.plan import changelogs, nodes
from tvfsql.plan.analysis.sharing import Shared
from tvfsql.plan.node import Node
from tvfsql.plan.stream import Firing
from tvfsql.plan.values.scalar import Scalar
from tvfsql.plan.values.times import duration
from tvfsql.plan.window import Cumulate, Endless, Session
from tvfsql.plan.window_nodes import GlobalWindowAggregate
from tvfsql.syntax import ast


def with_emit(options: Options, emit: ast.Emit | None) -> Options:
    """The options of a statement with EMIT, which sets those of early and late results. Raises OptionError."""
    if emit is None:
        return options
    lateness = options[LATENESS] if emit.lateness is None else emit.lateness
    values: dict[str, str] = {}
    match emit.when:
        case ast.ON_CLOSE:
            lateness = emit.lateness or 0
            values = {EARLY_FIRE.key: "false"}
        case ast.ON_UPDATE:
            values = {EARLY_FIRE.key: "true", EARLY_DELAY.key: "0 ms", LATE_FIRE.key: "false"}
        case ast.EVERY:
            values = {EARLY_FIRE.key: "true", EARLY_DELAY.key: f"{emit.every} ms"}
            if lateness and not emit.before_close:
                values |= {LATE_FIRE.key: "true", LATE_DELAY.key: f"{emit.every} ms"}
    values |= {LATENESS.key: f"{lateness} ms"} | ({} if lateness else {LATE_FIRE.key: "false"})
    if emit.lateness is not None:
        values[LATE_RESULTS.key] = (LateResults.PURGE if emit.purge else LateResults.ACCUMULATE).value
    made = Options({**options.values, **values}, f"EMIT {emit.when or 'WITH LATENESS'}")
    firing_of(made)
    return made


def refuse_idle_emit(plan: Node, emit: ast.Emit) -> None:
    """Raise UnsupportedError for EMIT of a stream without windows that could emit early or late."""
    final = emit.when == ast.ON_CLOSE and not emit.lateness  # as all other results are
    windows = [node.window for node in plan.walk() if isinstance(node, StreamSliceMerge)]
    changing = [node for node in plan.walk() if isinstance(node, StreamUpdatingTopN | StreamRegularJoin)]
    changing = [node for node in changing if emits_changes(node)]
    if (changing or any(isinstance(window, Endless) for window in windows)) and emit.when != ast.ON_UPDATE:
        what = without_window(changing[0]) if changing else "a GROUP BY without a window"
        raise UnsupportedError(
            f"{what} has no close: each micro-batch emits what it has changed",
            span=emit.span,
            hint="EMIT ON UPDATE, or leave it out",
        )
    if not final and not windows and not changing:
        raise UnsupportedError(
            "EMIT has no effect: this query has no aggregate by window", span=emit.span, hint="leave it out"
        )


def firing_of(options: Options) -> Firing | None:
    """Return the firing that the emit options define; None: windows fire only at their end. Raises OptionError if
    options contradict each other.
    """
    lateness = options[LATENESS]
    late = options[LATE_DELAY] if options[LATE_FIRE] else None
    if late is not None and not lateness:
        raise OptionError(
            f"{LATE_FIRE.key} needs {LATENESS.key}, which is 0",
            hint=f"SET '{LATENESS.key}' = '10 min'",
        )
    if late is not None and late > lateness:
        raise OptionError(
            f"{LATE_DELAY.key} ({duration(late)}) is longer than {LATENESS.key} ({duration(lateness)})",
            hint=f"SET '{LATENESS.key}' = '{duration(late)}'",
        )
    early = options[EARLY_DELAY] if options[EARLY_FIRE] else None
    if early is None and not lateness:
        return None
    return Firing(early, late or 0, lateness, options[LATE_RESULTS] is LateResults.PURGE)


def refuse_firing(plan: Node, firing: Firing, options: Options) -> None:
    """Raise UnsupportedError for windows that cannot fire early or late, and for operators that need final results as
    input.
    """
    fires = ((EARLY_FIRE.key, options[EARLY_FIRE]), (LATENESS.key, options[LATENESS]))
    hint = "EMIT ON WINDOW CLOSE" if options.emit else ", ".join(f"RESET '{key}'" for key, is_set in fires if is_set)
    for node in plan.walk():
        if isinstance(node, nodes.Scan) and node.sign and firing.purge:
            raise UnsupportedError(
                f"{LATE_RESULTS.key} = 'purge' needs insert-only input, but {node.table} is a changelog",
                span=node.span,
                hint=f"RESET '{LATE_RESULTS.key}'",
            )
        if isinstance(node, GlobalWindowAggregate) and (reason := _unfit(node, firing)):
            raise UnsupportedError(reason, span=node.span, hint=hint)
        if not any(map(_is_updating, node.children)):
            continue
        if not _hands_on(node) and not isinstance(node, changelogs.ToChangelog):
            reason = f"{noun(node)} needs final results, but its windows fire early or late"
            if firing.purge:
                reason = f"{noun(node)} needs whole results, but {LATE_RESULTS.key} = 'purge' emits increments"
            raise UnsupportedError(reason, span=node.span, hint=hint)
        fleeting = next((one for one in _scalars(node) if not one.lasting), None)
        if fleeting is not None and not firing.purge:
            raise UnsupportedError(
                f"{written(node, fleeting)} is not deterministic, so early or late results cannot retract it",
                span=fleeting.span or node.span,
                hint=f"SET '{LATE_RESULTS.key}' = 'purge'",
            )


def _unfit(node: GlobalWindowAggregate, firing: Firing) -> str | None:
    if isinstance(node.window, Session) and node.window.limit:
        return "a SESSION with a maximum duration cannot fire early or late, because rows may divide it anew"
    if isinstance(node.window, Session) and firing.purge:
        return f"{LATE_RESULTS.key} = 'purge' needs windows that keep their bounds, but a SESSION grows"
    if isinstance(node.window, Cumulate) and (node.window.emit_only_on_change or node.window.emit_only_on_update):
        return "a CUMULATE that emits only changed steps cannot fire early or late"
    return None


def _is_updating(node: Node) -> bool:
    """Whether results of windows that fire early or late come from it; `refused.retractions` knows about the others."""
    if isinstance(node, GlobalWindowAggregate):
        return not isinstance(node.window, Endless)
    return _hands_on(node) and any(map(_is_updating, node.children))


def _hands_on(node: Node) -> bool:
    """Whether it processes each row independently of the others."""
    of_rows = isinstance(node, nodes.Project | nodes.Filter | nodes.Sink | Shared)
    return of_rows or (isinstance(node, nodes.SetOperation) and node.kind == "union" and node.all)


def _scalars(node: Node) -> Iterable[Scalar]:
    match node:
        case nodes.Project(items=items):
            return [item.scalar for item in items]
        case nodes.Filter(conditions=conditions):
            return conditions
    return []
