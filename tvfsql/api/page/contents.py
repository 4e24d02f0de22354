"""The contents of a query's page as data: its texts, its plan after each rule, and its windows to scale."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from html import escape
from typing import Any

from tvfsql.api.program import Stages
from tvfsql.plan.node import Node
from tvfsql.plan.values.times import duration
from tvfsql.plan.window import Cumulate, Hop, Tumble
from tvfsql.rules import PHASES

SLICES = 240  # more are not drawn, because they would be narrower than a pixel
WINDOWS = 8

Figures = Callable[[Node], dict[str, Any]]


def query_data(query: Stages, code: str, ast: str, figures: Figures | None = None) -> dict[str, Any]:
    """The data of one query. `figures` returns the measurements of a physical operator; None if the query has not
    run.
    """
    reasons = {rule.name: inspect.cleandoc(rule.doc) for phase in PHASES for rule in phase.rules}
    span = query.ast.span
    start = span.start if span else 0  # spans count from the start of the script
    steps = [_step("Logical plan", "", "The query as it was written.", query.logical, None, start)]
    for number, (step, plan, before) in enumerate(zip(query.steps, *_replayed(query), strict=True), 1):
        title = f"{number}. {step.rule}"
        steps.append(_step(title, step.phase, reasons.get(step.rule, ""), plan, before, start))
    physical = _step("Physical plan", "", "The operators that run.", query.physical, None, start)
    if figures is not None:
        for node, shown in zip(query.physical.walk(), physical["nodes"], strict=True):
            shown["figures"] = figures(node)
    windows = [_strip(node) for node in query.physical.walk()]
    return {
        "mode": query.mode,
        "sql": query.shown_sql,
        "code": code.rstrip(),
        "ast": ast,
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


def _step(title: str, phase: str, reason: str, plan: Node, before: Node | None, start: int) -> dict[str, Any]:
    """The data of one plan: its operators in the order of EXPLAIN, which of them are new or moved, and which were
    removed.
    """
    labels = [node.label() for node in _places_of(plan)]
    old = labels if before is None else [node.label() for node in _places_of(before)]
    changes = SequenceMatcher(None, old, labels, autojunk=False).get_opcodes()
    new = {i for kind, _, _, start, end in changes if kind != "equal" for i in range(start, end)}
    gone = [label for kind, start, end, _, _ in changes if kind != "equal" for label in old[start:end]]
    shown = [node | {"new": number in new} for number, node in enumerate(drawn(plan, start))]
    return {"title": title, "phase": phase, "reason": reason, "nodes": shown, "gone": gone}


def drawn(plan: Node, start: int = 0) -> list[dict[str, Any]]:
    """The operators of a plan in the order of EXPLAIN, with the places of their boxes. Spans count from `start`."""
    nodes = [*_places_of(plan)]
    inputs = _inputs(nodes)
    return [
        _node(node, below, start) | {"x": x, "y": y}
        for node, below, (x, y) in zip(nodes, inputs, places(inputs), strict=True)
    ]


def _places_of(plan: Node) -> Iterator[Node]:
    """The operators in the order of EXPLAIN, once for each place where they stand."""
    yield plan
    for child in plan.children:
        yield from _places_of(child)


def _inputs(nodes: list[Node]) -> list[list[int]]:
    """The numbers of each operator's inputs. An operator can occur several times in a plan."""
    sizes = [0] * len(nodes)
    found: list[list[int]] = [[] for _ in nodes]
    for number in range(len(nodes) - 1, -1, -1):
        at = number + 1
        for _ in nodes[number].children:
            found[number].append(at)
            at += sizes[at]
        sizes[number] = at - number
    return found


def _node(node: Node, inputs: list[int], start: int) -> dict[str, Any]:
    return {
        "operator": node.label().partition("(")[0],
        "details": [[name, value] for name, value in node.details()],
        "columns": [f"{part.name} {part.type or '?'}" for part in node.schema],
        "inputs": inputs,
        "span": [node.span.start - start, node.span.end - start] if node.span else None,
    }


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


# Where the operators of a plan stand when it is drawn, on the page and in a notebook.


WIDE, HIGH = 216, 46  # the box of an operator, in pixels
ACROSS, DOWN = 18, 30  # the space between boxes
LETTERS = 31  # of what an operator does, in its box


def places(inputs: Sequence[Sequence[int]]) -> list[tuple[float, int]]:
    """The left upper corner of each operator's box, given the numbers of its inputs.

    Operators are in the order of EXPLAIN, so each comes before its inputs. An operator is above its inputs, in the
    middle; those without inputs stand side by side.
    """
    lines, lefts, leaves = [0] * len(inputs), [0.0] * len(inputs), 0
    for number, below in enumerate(inputs):
        for each in below:
            lines[each] = lines[number] + 1
        if not below:
            lefts[number] = leaves * (WIDE + ACROSS)
            leaves += 1
    for number in reversed(range(len(inputs))):
        if below := inputs[number]:
            lefts[number] = (lefts[below[0]] + lefts[below[-1]]) / 2
    return [(left, line * (HIGH + DOWN)) for left, line in zip(lefts, lines, strict=True)]


def cut(text: str) -> str:
    """A text that fits the box of an operator."""
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"


# A plan as a picture for a notebook: an SVG without scripts and styles, in the text colour of what is around it.


MOST = 100  # operators; a larger plan is for the page, which can be zoomed
HIGHEST = 480  # pixels; the rest is scrolled to

_BOX = 'rx="5" fill="currentColor" fill-opacity=".05" stroke="currentColor" stroke-opacity=".35"'
_EDGE = 'fill="none" stroke="currentColor" stroke-opacity=".5"'
_NAME = 'x="9" y="19" font-size="12" font-weight="600" fill="currentColor"'
_WHAT = 'x="9" y="36" font-size="10.5" font-family="monospace" fill="currentColor" fill-opacity=".75"'


def picture(plan: Node) -> str:
    """The operators of a plan with the rows going up, as on the page. Raw SQL in it is escaped."""
    nodes = drawn(plan)
    if len(nodes) > MOST:
        return f"<p>{len(nodes)} operators are too many for a picture here: <code>explain(format='html')</code></p>"
    wide, high = (max(node[side] for node in nodes) + size for side, size in (("x", WIDE), ("y", HIGH)))
    edges = "".join(_edge(nodes[each], node) for node in nodes for each in node["inputs"])
    boxes = "".join(map(_box, nodes))
    return (
        f'<div style="overflow:auto;max-height:{HIGHEST}px;margin:6px 0">'
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="the plan" width="{wide + 2:g}" '
        f'height="{high + 2:g}" viewBox="-1 -1 {wide + 2:g} {high + 2:g}" font-family="sans-serif">{edges}{boxes}</svg>'
        "</div>"
    )


def _box(node: dict[str, Any]) -> str:
    does = ", ".join(f"{name}=[{value}]" for name, value in node["details"])
    title = f"{node['operator']}({does})\ncolumns: {', '.join(node['columns'])}"
    return (
        f'<g transform="translate({node["x"]:g} {node["y"]:g})"><title>{escape(title)}</title>'
        f'<rect width="{WIDE}" height="{HIGH}" {_BOX}/><text {_NAME}>{escape(node["operator"])}</text>'
        f"<text {_WHAT}>{escape(cut(does))}</text></g>"
    )


def _edge(below: dict[str, Any], above: dict[str, Any]) -> str:
    """A curve from the middle of one box's top to the middle of the other's bottom."""
    start, end = below["x"] + WIDE / 2, above["x"] + WIDE / 2
    bottom = above["y"] + HIGH
    middle = (below["y"] + bottom) / 2
    return f'<path d="M{start:g} {below["y"]:g} C{start:g} {middle:g} {end:g} {middle:g} {end:g} {bottom:g}" {_EDGE}/>'
