"""A plan as a picture for a notebook: an SVG without scripts and styles, in the text colour of what is around it."""

from __future__ import annotations

from html import escape
from typing import Any

from tvfsql.api.page.contents import drawn
from tvfsql.api.page.layout import HIGH, WIDE, cut
from tvfsql.plan.node import Node

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
