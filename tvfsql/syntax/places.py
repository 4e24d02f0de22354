"""The spans of sqlglot's trees."""

from __future__ import annotations

from sqlglot import exp

from tvfsql.errors import Span


def span_of(tree: exp.Expr, fallback: Span) -> Span:
    """The span of a tree; `fallback` if no word of it has a place."""
    places = [node.meta for node in tree.walk() if "start" in node.meta]
    if not places:
        return fallback
    return Span(min(place["start"] for place in places), max(place["end"] for place in places) + 1)
