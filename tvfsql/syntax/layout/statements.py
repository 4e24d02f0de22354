"""Where the lines of a statement end."""

from __future__ import annotations

from collections.abc import Sequence

from tvfsql.errors import screen_width
from tvfsql.syntax.layout.groups import Group, Node, flat, grouped, split, starts_query, upper
from tvfsql.syntax.layout.page import STEP, Page
from tvfsql.syntax.layout.queries import is_short, lay_out_group, lay_out_query, lay_out_words
from tvfsql.syntax.layout.word import Word

SHORT_TABLE = 80  # columns: the definition of a table that is not longer stays on one line


def lay_out(words: Sequence[Word], page: Page, sql: str) -> None:
    """Write a statement on lines of its own."""
    if words[0].upper in ("SET", "RESET") and words[1:] and words[1].kind == "NAME":
        words = _as_written(words, sql)
    _statement(grouped(words), page)
    page.end_line(0)


def _as_written(words: Sequence[Word], sql: str) -> list[Word]:
    """A SET without quotes, whose key and value may have any signs: its blanks are left alone."""
    own, ends = [*words], list[Word]()
    while own[-1].kind in ("SEMICOLON", "COMMENT"):
        ends.insert(0, own.pop())
    text = sql[own[1].start : own[-1].start + len(own[-1].text)]
    return [own[0], Word(text, "NAME", own[1].start, before=own[1].before, after=own[-1].after), *ends]


def _statement(nodes: Sequence[Node], page: Page) -> None:
    first = upper(nodes[0])
    begin = next((i for i, node in enumerate(nodes[:-1]) if upper(node) == "BEGIN" and _is_set(nodes, i)), None)
    if begin is not None:
        _statement_set(nodes, begin, page)
    elif starts_query(nodes):
        lay_out_query(nodes, page)
    elif first == "CREATE" and "TABLE" in [upper(node) for node in nodes[:4]]:
        _create_table(nodes, page)
    else:
        _head_and_query(nodes, page)


def _is_set(nodes: Sequence[Node], i: int) -> bool:
    words = [upper(node) for node in nodes[: i + 3]]
    return ["STATEMENT", "SET"] in (words[max(0, i - 2) : i], words[i + 1 :])


def _head_and_query(nodes: Sequence[Node], page: Page) -> None:
    """INSERT, CREATE VIEW and others: the query has lines of its own, unless all is short."""
    start = next((i for i in range(1, len(nodes)) if _is_query(nodes, i)), len(nodes))
    if is_short(nodes):
        page.put(nodes)
        return
    lay_out_words(nodes[:start], page)
    if start < len(nodes):
        page.end_line(page.indent)
        lay_out_query(nodes[start:], page)


def _is_query(nodes: Sequence[Node], i: int) -> bool:
    node, after = nodes[i], nodes[i + 1] if i + 1 < len(nodes) else None
    if isinstance(node, Group):
        return node.is_query
    return node.upper in ("SELECT", "VALUES") or (node.upper == "WITH" and isinstance(after, Word))


def _create_table(nodes: Sequence[Node], page: Page) -> None:
    """Columns and options have a line each, names and types are one below the other."""
    text = flat(nodes)
    if text is not None and len(text) <= SHORT_TABLE and not any(_is_query(nodes, i) for i in range(len(nodes))):
        page.put(nodes)
        return
    listed = False
    for i, node in enumerate(nodes):
        if _is_query(nodes, i):
            page.end_line(page.indent)
            lay_out_query(nodes[i:], page)
            return
        if not isinstance(node, Group):
            page.put([node])
        elif not listed and upper(nodes[i - 1]) not in ("WITH", "BY"):
            _columns(node, page)
        elif upper(nodes[i - 1]) == "WITH" and len(split(node.parts, "COMMA")) > 1:
            lay_out_group(node, page)
        else:
            lay_out_words([node], page)
        listed = listed or isinstance(node, Group)


def _columns(group: Group, page: Page) -> None:
    indent = page.indent
    page.put([group.open])
    elements = split(group.parts, "COMMA")
    names = [flat(each[:1]) or "" for each in elements if _is_column(each)]
    width = max((screen_width(name) for name in names), default=0)
    for each in elements:
        page.end_line(indent + STEP)
        if _is_column(each):
            page.put(each[:1], pad=width - screen_width(flat(each[:1]) or ""))
            each = each[1:]
        lay_out_words(each, page)
    page.end_line(indent)
    page.put([group.close])


def _is_column(nodes: Sequence[Node]) -> bool:
    """Whether an element has a name, and a type or an expression, in this order."""
    first, after = nodes[0], nodes[1] if len(nodes) > 1 else None
    if not isinstance(first, Word) or first.kind not in ("NAME", "QUOTED") or first.after:
        return False
    if not isinstance(after, Word) or after.kind not in ("NAME", "QUOTED") or after.before:
        return False
    begins = [upper(each) for each in nodes[:3]]
    return begins[:2] not in (["WATERMARK", "FOR"], ["PRIMARY", "KEY"]) and begins[::2] != ["CONSTRAINT", "PRIMARY"]


def _statement_set(nodes: Sequence[Node], begin: int, page: Page) -> None:
    """The INSERTs between BEGIN and END, each indented."""
    indent = page.indent
    if upper(nodes[begin + 1]) == "STATEMENT":  # BEGIN STATEMENT SET;
        begin = next(i for i, node in enumerate(nodes) if isinstance(node, Word) and node.kind == "SEMICOLON")
        page.put(nodes[: begin + 1])
    else:
        page.put(nodes[:begin])
        page.end_line(indent)
        page.put(nodes[begin : begin + 1])
    inserts = split(nodes[begin + 1 :], "SEMICOLON")
    for i, each in enumerate(inserts):
        if i < len(inserts) - 1 or upper(each[0]) != "END":
            page.end_line(indent + STEP)
            _statement(each, page)
        else:
            page.end_line(indent)
            page.put(each)
