"""A plan as a picture for a notebook: an SVG without scripts and styles, in the text colour of what is around it."""

from __future__ import annotations

from html import escape

from tvfsql.api.page.drawing import HEAD, LINE, WIDE, Card, cards
from tvfsql.physical.kinds import Kind, kind_of
from tvfsql.plan.node import Node

MOST = 100  # operators; a larger plan is for the page, which can be zoomed
HIGHEST = 560  # pixels; the rest is scrolled to
COLOURS = {  # that stand out on white and on black
    Kind.SOURCE: "#14998f",
    Kind.ROWS: "#7d8794",
    Kind.SHUFFLE: "#9562dd",
    Kind.GATHER: "#cf7a1c",
    Kind.STATE: "#dd5a21",
    Kind.SINK: "#4a7fe0",
}

_CARD = 'rx="7" fill="currentColor" fill-opacity=".04" stroke="currentColor" stroke-opacity=".35"'
_NAME = 'x="17" y="21" font-size="13.5" font-weight="600" fill="currentColor"'
_KIND = f'x="{WIDE - 11}" y="21" font-size="11.5" text-anchor="end"'
_DOES = 'x="17" font-size="12.5" fill="currentColor" fill-opacity=".8"'


def picture(plan: Node) -> str:
    """The operators of a plan as on the page. Names in it are escaped."""
    drawn = cards(plan)
    if len(drawn) > MOST:
        return f"<p>{len(drawn)} operators are too many for a picture here: <code>explain(format='html')</code></p>"
    wide, high = max(each.x for each in drawn) + WIDE, max(each.y + each.high for each in drawn)
    edges = "".join(_edge(drawn[above], each) for each in drawn for above in each.inputs)
    return (
        f'<div style="overflow:auto;max-height:{HIGHEST}px;margin:6px 0">'
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="the plan" width="{wide + 2:g}" '
        f'height="{high + 2:g}" viewBox="-1 -1 {wide + 2:g} {high + 2:g}" font-family="system-ui, sans-serif">'
        f"{edges}{''.join(map(_card, drawn))}</svg></div>"
    )


def _card(card: Card) -> str:
    kind = kind_of(card.node)
    at = [HEAD + 11 + i * LINE for i in range(len(card.lines))]
    lines = "".join(f'<text {_DOES} y="{y}">{escape(line)}</text>' for y, line in zip(at, card.lines, strict=True))
    title = f"{card.node.label()}\ncolumns: {', '.join(card.node.columns)}"
    return (
        f'<g transform="translate({card.x:g} {card.y:g})"><title>{escape(title)}</title>'
        f'<rect width="{WIDE}" height="{card.high}" {_CARD}/>'
        f'<rect width="6" height="{card.high}" rx="3" fill="{COLOURS[kind]}"/>'
        f"<text {_NAME}>{escape(card.node.title)}</text>"
        f'<text {_KIND} fill="{COLOURS[kind]}">{kind}</text>{lines}</g>'
    )


def _edge(above: Card, below: Card) -> str:
    """An arrow from the middle of one card's bottom to the middle of the other's top."""
    start, end, top, bottom = above.x + WIDE / 2, below.x + WIDE / 2, above.y + above.high, below.y - 8
    middle = (top + bottom) / 2
    return (
        f'<path d="M{start:g} {top} C{start:g} {middle:g} {end:g} {middle:g} {end:g} {bottom}" fill="none" '
        f'stroke="currentColor" stroke-opacity=".5" stroke-width="1.5"/>'
        f'<path d="M{end - 5:g} {bottom - 1} h10 l-5 9 z" fill="currentColor" fill-opacity=".5"/>'
    )
