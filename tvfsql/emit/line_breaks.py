"""Breaks long statements into lines as `ruff format` does, so that the module looks like hand-written code.

A statement is written on one line and parsed with Python's own parser; lines are broken in calls, lists and dicts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tvfsql.errors import screen_width

WIDTH = 100


def laid_out(statement: str, indent: int = 4) -> list[str]:
    """The lines of a statement `value`, `name = value` or `return value`."""
    pad = " " * indent
    if fits(pad + statement):
        return [pad + statement]
    (function,) = ast.parse(f"def _():\n {statement}").body
    assert isinstance(function, ast.FunctionDef)
    (parsed,) = function.body
    assert isinstance(parsed, ast.Assign | ast.Return | ast.Expr), statement
    assert parsed.value is not None, statement
    layout = _Layout(f" {statement}".encode())
    before = layout.text(1, parsed.value.col_offset)
    return list(layout.broken(parsed.value, pad + before, "", indent, bare=True))


def fits(line: str) -> bool:
    """Whether the line has at most WIDTH columns."""
    return screen_width(line) <= WIDTH


@dataclass(frozen=True)
class _Layout:
    """The text of one statement; the nodes of its syntax tree have positions in it."""

    source: bytes

    def text(self, start: int, end: int | None) -> str:
        return self.source[start:end].decode()

    def broken(self, node: ast.expr, before: str, after: str, indent: int, *, bare: bool = False) -> Iterator[str]:
        """The lines of a node between two texts. `bare`: it has no brackets around it yet."""
        flat = before + self.text(node.col_offset, node.end_col_offset) + after
        pad = " " * indent
        if fits(flat) or not isinstance(node, ast.Call | ast.List | ast.Dict):
            yield flat
        elif isinstance(node, ast.List):
            yield f"{before}["
            for item in node.elts:
                yield from self.broken(item, f"{pad}    ", _comma(node.elts), indent + 4)
            yield f"{pad}]{after}"
        elif isinstance(node, ast.Dict):
            yield f"{before}{{"
            for key, value in zip(node.keys, node.values, strict=True):
                assert key is not None
                start = f"{pad}    {self.text(key.col_offset, key.end_col_offset)}: "
                yield from self.broken(value, start, _comma(node.values), indent + 4)
            yield f"{pad}}}{after}"
        elif len(links := _links(node)) > 2 and bare:
            yield f"{before}("
            lines = self.broken if before.strip() else self.chain
            yield from lines(node, f"{pad}    ", "", indent + 4)
            yield f"{pad}){after}"
        elif len(links) > 2 and not before.strip():
            yield from self.chain(node, before, after, indent)
        else:
            yield from self.call(node, before, after, indent)

    def chain(self, node: ast.Call, before: str, after: str, indent: int) -> Iterator[str]:
        """A chain of calls, one call per line."""
        links = _links(node)
        start = node.col_offset
        for link in links:
            head = self.text(start, link.func.end_col_offset)
            tail = after if link is links[-1] else ""
            yield from self.arguments(link, before + head, tail, indent)
            before, start = " " * indent, link.end_col_offset or 0

    def call(self, node: ast.Call, before: str, after: str, indent: int) -> Iterator[str]:
        """A call with its last arguments broken; if the text before these is too long, with the earlier ones broken."""
        head = before + self.text(node.col_offset, node.func.end_col_offset)
        *_, inner = [None, *_links(node)[:-1]]
        if inner is None or (fits(f"{head}(") and (node.args or node.keywords)):
            yield from self.arguments(node, head, after, indent)
            return
        head = before + self.text(inner.col_offset, inner.func.end_col_offset)
        *lines, end = self.arguments(inner, head, "", indent, alone=True)
        yield from lines
        yield from self.arguments(
            node, end + self.text(inner.end_col_offset or 0, node.func.end_col_offset), after, indent
        )

    def arguments(self, node: ast.Call, head: str, after: str, indent: int, *, alone: bool = False) -> Iterator[str]:
        """`head(arguments)`: on one line (not if `alone`), else all arguments on one line of their own, else one per
        line.
        """
        inside = self.text((node.func.end_col_offset or 0) + 1, (node.end_col_offset or 0) - 1)
        pad = " " * indent
        parts: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        if not parts or (not alone and fits(f"{head}({inside}){after}")):
            yield f"{head}({inside}){after}"
            return
        yield f"{head}("
        if fits(f"{pad}    {inside}"):
            yield f"{pad}    {inside}"
        else:
            for part in parts:
                value = part.value if isinstance(part, ast.keyword) else part
                start = f"{pad}    " + self.text(part.col_offset, value.col_offset)
                yield from self.broken(value, start, _comma(parts), indent + 4)
        yield f"{pad}){after}"


def _links(node: ast.expr) -> list[ast.Call]:
    """The calls of a chain in order: for `f(x).g.h(y)` these are `f(x)` and `f(x).g.h(y)`."""
    links: list[ast.Call] = []
    at: ast.expr = node
    while isinstance(at, ast.Call | ast.Attribute):
        if isinstance(at, ast.Call):
            links.append(at)
        at = at.func if isinstance(at, ast.Call) else at.value
    return links[::-1]


def _comma(items: Sequence[object]) -> str:
    """The separator after each of several items that have lines of their own."""
    return "," if len(items) > 1 else ""
