"""Where a long statement is broken: as `ruff format` breaks it, so that the module looks like its reader's own code.

A statement is written on one line and read back with Python's own parser: what is broken is what Python
takes for a call, a list or a dict.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tvfsql.errors import screen_width

WIDTH = 100


def laid_out(statement: str, indent: int = 4) -> list[str]:
    """The lines of `value`, `name = value` or `return value`."""
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
    """Whether WIDTH columns hold the line."""
    return screen_width(line) <= WIDTH


@dataclass(frozen=True)
class _Layout:
    """One statement's text, in which the nodes that Python's parser made of it have their places."""

    source: bytes

    def text(self, start: int, end: int | None) -> str:
        return self.source[start:end].decode()

    def broken(self, node: ast.expr, before: str, after: str, indent: int, *, bare: bool = False) -> Iterator[str]:
        """The lines of a node that stands between two texts. `bare`: no brackets are around it yet."""
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
        """Calls on calls, one a line."""
        links = _links(node)
        start = node.col_offset
        for link in links:
            head = self.text(start, link.func.end_col_offset)
            tail = after if link is links[-1] else ""
            yield from self.arguments(link, before + head, tail, indent)
            before, start = " " * indent, link.end_col_offset or 0

    def call(self, node: ast.Call, before: str, after: str, indent: int) -> Iterator[str]:
        """A call with its last arguments broken; if what stands before them is too long, the ones before those."""
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
        """`head(arguments)`: on one line (not if `alone`), or the arguments on one of their own, or each on one."""
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
    """The calls of a chain, first to last: of `f(x).g.h(y)` they are `f(x)` and `f(x).g.h(y)`."""
    links: list[ast.Call] = []
    at: ast.expr = node
    while isinstance(at, ast.Call | ast.Attribute):
        if isinstance(at, ast.Call):
            links.append(at)
        at = at.func if isinstance(at, ast.Call) else at.value
    return links[::-1]


def _comma(items: Sequence[object]) -> str:
    """What follows each of several items on lines of their own."""
    return "," if len(items) > 1 else ""
