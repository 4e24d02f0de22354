"""The contents of a query's page as data: its texts, its plan after each rule, and its windows to scale."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from difflib import SequenceMatcher
from typing import Any

from tvfsql.api.page.drawing import Card, cards, operators_of
from tvfsql.api.program import Stages
from tvfsql.physical.kinds import Kind, kind_of
from tvfsql.plan.node import Field, Node
from tvfsql.plan.tables.internal_columns import is_internal
from tvfsql.plan.values.times import duration
from tvfsql.plan.window import Cumulate, Hop, Tumble
from tvfsql.rules import PHASES

SLICES = 240  # more are not drawn, because they would be narrower than a pixel
WINDOWS = 8

Figures = Callable[[Node], dict[str, Any]]


def query_data(
    query: Stages, number: int, code: str, ast: str, figures: Figures | None = None, *, live: bool = False
) -> dict[str, Any]:
    """The data of one query, the `number`-th of its page. `figures` returns the measurements of a physical operator;
    None if the query has not run. The cards of a `live` page have room for figures that come later.
    """
    reasons = {rule.name: inspect.cleandoc(rule.doc) for phase in PHASES for rule in phase.rules}
    span = query.ast.span
    start = span.start if span else 0  # spans count from the start of the script
    steps = [_step("Logical plan", "", "The query as it was written.", query.logical, None, start)]
    for at, (step, plan, before) in enumerate(zip(query.steps, *_replayed(query), strict=True), 1):
        title = f"{at}. {step.rule}"
        steps.append(_step(title, step.phase, reasons.get(step.rule, ""), plan, before, start))
    physical = _step("Physical plan", "", "The operators that run.", query.physical, None, start, figures, live=live)
    windows = [_strip(node) for node in query.physical.walk()]
    return {
        "name": query.sink.name if query.sink is not None else f"query {number}",
        "mode": query.mode,
        "sql": query.shown_sql,
        "code": code.rstrip(),
        "ast": ast,
        "result": f"result: {len(query.physical.columns)} column{'s' if len(query.physical.columns) != 1 else ''}",
        "steps": [*steps, physical],
        "strips": [strip for i, strip in enumerate(windows) if strip and strip not in windows[:i]],
    }


def _replayed(query: Stages) -> tuple[list[Node], list[Node]]:
    """The whole plan after each step, and before it. A step itself only has the operators that its rule changed."""
    plan, after, before = query.logical, list[Node](), list[Node]()
    for step in query.steps:
        before.append(plan)
        plan = _with(plan, step.before, step.after)
        after.append(plan)
    return after, before


def _with(plan: Node, old: Node, new: Node) -> Node:
    """The plan with each operator that equals `old` replaced: a part that is read twice is changed once."""
    return plan.transform(lambda node: new if node == old else node)


def _step(
    title: str,
    phase: str,
    reason: str,
    plan: Node,
    before: Node | None,
    start: int,
    figures: Figures | None = None,
    *,
    live: bool = False,
) -> dict[str, Any]:
    """The data of one plan: its operators in the order of EXPLAIN, which of them are new or moved, and which were
    removed.
    """
    drawn = cards(plan, lambda node: figures is not None or (live and kind_of(node) is Kind.STATE))
    labels = [card.node.label() for card in drawn]
    old = labels if before is None else [node.label() for node in operators_of(before)]
    changes = SequenceMatcher(None, old, labels, autojunk=False).get_opcodes()
    new = {i for kind, _, _, start, end in changes if kind != "equal" for i in range(start, end)}
    gone = [label for kind, start, end, _, _ in changes if kind != "equal" for label in old[start:end]]
    nodes = [_node(card, start) | {"new": i in new} for i, card in enumerate(drawn)]
    if figures is not None:
        nodes = [shown | {"figures": figures(card.node)} for shown, card in zip(nodes, drawn, strict=True)]
    return {"title": title, "phase": phase, "reason": reason, "nodes": nodes, "gone": gone}


def _node(card: Card, start: int) -> dict[str, Any]:
    """The data of an operator. Spans count from `start`."""
    node = card.node
    return {
        "number": card.number,
        "operator": node.title,
        "kind": kind_of(node),
        "does": card.does,
        "lines": card.lines,
        "details": [[name, value] for name, value in node.details()],
        "columns": [_column(part) for part in node.schema if not is_internal(part.name)],
        "inputs": card.inputs,
        "span": [node.span.start - start, node.span.end - start] if node.span else None,
        "x": card.x,
        "y": card.y,
        "high": card.high,
    }


def _column(part: Field) -> str:
    """A column with its type, if it is known."""
    return f"{part.name} {part.type.flink}" if part.type else part.name


def _strip(node: Node) -> dict[str, Any] | None:
    """The windows of an operator and their slices from 0 on, in ms; None for windows without fixed slices."""
    window = getattr(node, "window", None)
    if not isinstance(window, Tumble | Hop | Cumulate):
        return None
    every = {Tumble: window.size, Hop: getattr(window, "slide", 0), Cumulate: getattr(window, "step", 0)}[type(window)]
    first = window.offset + (every if isinstance(window, Cumulate) else window.size)
    windows = [(window.window_start(end), end) for end in range(first, first + WINDOWS * every, every)]
    start, last = windows[0][0], windows[-1][1]
    count = (last - start) // window.slice_size
    return {
        "label": f"{window.name} ({', '.join(f'{name} {text}' for name, text in window.parts)})",
        "slice": duration(window.slice_size),
        "perWindow": window.size // window.slice_size,
        "slices": [i * window.slice_size for i in range(count + 1)] if count <= SLICES else [],
        "windows": [(a - start, b - start) for a, b in windows],
        "end": last - start,
    }
