"""The spans of sqlglot's trees."""

from __future__ import annotations

from sqlglot import exp

from tvfsql.errors import Span

SPAN = "tvfsql.span"  # in the meta of a node: its span, or None if no word of it has a place


def span_of(tree: exp.Expr, fallback: Span) -> Span:
    """The span of a tree; `fallback` if no word of it has a place.

    One walk finds the spans of all nodes below as well, so asking for the span of each level of a deep tree takes
    linear time.
    """
    if SPAN not in tree.meta:
        _find(tree)
    found: Span | None = tree.meta[SPAN]
    return found or fallback


def _find(tree: exp.Expr) -> None:
    nodes = list(tree.walk(prune=lambda node: SPAN in node.meta))
    for node in reversed(nodes):  # each after all nodes below it
        if SPAN in node.meta:
            continue
        spans = [Span(node.meta["start"], node.meta["end"] + 1)] if "start" in node.meta else []
        spans += [below.meta[SPAN] for below in node.iter_expressions() if below.meta.get(SPAN)]
        node.meta[SPAN] = Span(min(s.start for s in spans), max(s.end for s in spans)) if spans else None
