"""Where the lines of a query end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tvfsql.syntax.layout.groups import Group, Node, flat, split, starts_query, upper
from tvfsql.syntax.layout.keywords import EMITTED, JOINS
from tvfsql.syntax.layout.page import STEP, Page
from tvfsql.syntax.layout.patterns import clauses_of
from tvfsql.syntax.layout.word import Word
from tvfsql.syntax.queries.match_recognize import WORD

SHORT = 60  # columns: a query that is not longer stays on one line
SETS = ("UNION", "EXCEPT", "INTERSECT", "MINUS")
CONDITIONS = ("WHERE", "HAVING", "ON", "QUALIFY")
LONG_ENOUGH = 24  # columns: shorter parentheses are never taken apart to save room


def lay_out_query(nodes: Sequence[Node], page: Page) -> None:
    """Write a query: on one line if it is short, else each clause on a line of its own."""
    if is_short(nodes) and page.fits(nodes):
        page.put(nodes)
        return
    indent = page.indent
    for i, clause in enumerate(clauses(nodes)):
        if i:
            page.end_line(indent)
        _clause(clause, page)


def is_short(nodes: Sequence[Node]) -> bool:
    """Whether a query can stay on one line."""
    text = flat(nodes)
    return text is not None and len(text) <= SHORT


def clauses(nodes: Sequence[Node]) -> Iterator[list[Node]]:
    """The clauses of a query, each beginning with its keyword."""
    clause: list[Node] = []
    joined = False
    for i, node in enumerate(nodes):
        word = upper(node)
        before = upper(nodes[i - 1]) if i else ""
        follows = nodes[i + 1] if i + 1 < len(nodes) else None
        begins = clause and (
            (word in ("SELECT", "WHERE", "HAVING", "QUALIFY", *SETS) and before != "EXPLAIN")
            or (word == "FROM" and before != "DISTINCT")
            or (word in ("GROUP", "ORDER") and upper(follows) == "BY")
            or (word == "LIMIT" and before not in ("BY", ",", "."))
            or (word == "FETCH" and upper(follows) in ("FIRST", "NEXT"))
            or (word == "VALUES" and isinstance(follows, Group))
            or (word == "EMIT" and before not in (",", ".", "AS") and upper(follows) in EMITTED)
            or (word == "ON" and (joined or upper(follows) == "CONFLICT"))
            or (word in (*JOINS, "JOIN") and before not in JOINS and _joins(nodes, i))
            or (isinstance(node, Group) and node.is_query and (before in SETS or before == "ALL"))
            or (isinstance(node, Group) and node.is_query and _ends_cte(clause))
        )
        if begins:
            yield clause
            clause = []
            joined = False
        joined = joined or word == "JOIN"
        clause.append(node)
    if clause:
        yield clause


def _joins(nodes: Sequence[Node], i: int) -> bool:
    return next((upper(each) for each in nodes[i:] if upper(each) not in JOINS), "") == "JOIN"


def _ends_cte(clause: Sequence[Node]) -> bool:
    """Whether a group after this clause is the query of a WITH: not one of its parts."""
    return upper(clause[0]) == "WITH" and isinstance(clause[-1], Group) and clause[-1].is_query


def _clause(nodes: Sequence[Node], page: Page) -> None:
    first = upper(nodes[0])
    if first == "WITH":
        _ctes(nodes, page)
    elif first in CONDITIONS:
        page.put(nodes[:1])
        lay_out_condition(nodes[1:], page)
    elif first in ("SELECT", "GROUP", "ORDER", "PARTITION", "VALUES", "FROM"):
        head = 2 if upper(nodes[1] if len(nodes) > 1 else None) in ("BY", "DISTINCT", "ALL") else 1
        while head < len(nodes) and (each := nodes[head]) and isinstance(each, Word) and each.kind == "HINT":
            head += 1
        page.put(nodes[:head])
        lay_out_list(nodes[head:], page)
    else:
        lay_out_words(nodes, page)


def _ctes(nodes: Sequence[Node], page: Page) -> None:
    """The queries of a WITH, one after another, each broken into lines."""
    indent = page.indent
    for i, part in enumerate(split(nodes, "COMMA")):
        if i:
            page.end_line(indent)
        for node in part:
            if isinstance(node, Group) and node.is_query:
                lay_out_group(node, page)
            else:
                lay_out_words([node], page)


def lay_out_list(nodes: Sequence[Node], page: Page) -> None:
    """Write what commas separate: on the line if it fits, else each part on its own line."""
    parts = split(nodes, "COMMA")
    if len(parts) < 2 or (page.fits(nodes) and not _has_long_query(nodes)):
        lay_out_words(nodes, page)
        return
    indent = page.indent
    for part in parts:
        page.end_line(indent + STEP)
        lay_out_words(part, page)


def lay_out_condition(nodes: Sequence[Node], page: Page) -> None:
    """Write a condition: on the line if it fits, else each part of an AND, or of an OR, on its own line."""
    if page.fits(nodes) and not _has_long_query(nodes):
        page.put(nodes)
        return
    indent = page.indent
    for i, part in enumerate(_operands(nodes)):
        if i:
            page.end_line(indent + STEP // 2)
        lay_out_words(part, page)


def _operands(nodes: Sequence[Node]) -> Iterator[list[Node]]:
    """The parts of an OR, or else of an AND, each beginning with that word."""
    between = {
        i
        for i, node in enumerate(nodes)
        if upper(node) == "AND" and _last(nodes[:i], ("BETWEEN", "AND", "OR")) == "BETWEEN"
    }
    at = "OR" if any(upper(node) == "OR" for node in nodes) else "AND"
    part: list[Node] = []
    for i, node in enumerate(nodes):
        if upper(node) == at and i not in between and part:
            yield part
            part = []
        part.append(node)
    yield part


def _last(nodes: Sequence[Node], words: Sequence[str]) -> str:
    return next((upper(node) for node in reversed(nodes) if upper(node) in words), "")


def lay_out_words(nodes: Sequence[Node], page: Page) -> None:
    """Write words one after another. Parentheses that do not fit on the line are broken."""
    for i, node in enumerate(nodes):
        if isinstance(node, Word):
            page.put([node])
            continue
        if i and upper(nodes[i - 1]) == WORD:
            _match(node, page)
            continue
        end = next((k for k in range(i + 1, len(nodes)) if isinstance(nodes[k], Group)), len(nodes))
        text = flat([node])
        small = text is not None and len(text) <= LONG_ENOUGH
        if not _has_long_query([node]) and text is not None and (small or page.fits(nodes[i:end])):
            page.put([node])
        else:
            lay_out_group(node, page)


def _match(group: Group, page: Page) -> None:
    """Write the parentheses of MATCH_RECOGNIZE, each clause on a line of its own."""
    page.put([group.open])
    indent = page.indent
    _, *starts = clauses_of([node if isinstance(node, Word) else None for node in group.parts])
    starts = [0, *starts]  # a comment may stand before the first clause
    for start, end in zip(starts, [*starts[1:], len(group.parts)], strict=True):
        page.end_line(indent + STEP)
        nodes = group.parts[start:end]
        if upper(nodes[0]) in ("MEASURES", "DEFINE"):
            page.put(nodes[:1])
            lay_out_list(nodes[1:], page)
        else:
            _clause(nodes, page)
    page.end_line(indent)
    page.put([group.close])


def _has_long_query(nodes: Sequence[Node]) -> bool:
    """Whether there is a query within that has lines of its own."""
    return any(
        isinstance(node, Group) and ((node.is_query and not is_short(node.parts)) or _has_long_query(node.parts))
        for node in nodes
    )


def lay_out_group(group: Group, page: Page) -> None:
    """Write parentheses or CASE with their contents on lines of their own."""
    page.put([group.open])
    indent = page.indent
    if group.open.text == "CASE":
        _case(group.parts, page)
    else:
        page.end_line(indent + STEP)
        _contents(group.parts, page)
    page.end_line(indent)
    page.put([group.close])


def _case(nodes: Sequence[Node], page: Page) -> None:
    indent = page.indent
    part: list[Node] = []
    for node in nodes:
        if upper(node) in ("WHEN", "ELSE"):
            lay_out_words(part, page)
            page.end_line(indent + STEP)
            part = []
        part.append(node)
    lay_out_words(part, page)


def _contents(nodes: Sequence[Node], page: Page) -> None:
    indent = page.indent
    if starts_query(nodes):
        lay_out_query(nodes, page)
    elif upper(nodes[0] if nodes else None) in ("PARTITION", "ORDER", "ROWS", "RANGE"):  # of OVER
        for i, part in enumerate(_frames(nodes)):
            if i:
                page.end_line(indent)
            _clause(part, page)
    elif len(parts := split(nodes, "COMMA")) > 1:
        for i, each in enumerate(parts):
            if i:
                page.end_line(indent)
            lay_out_words(each, page)
    else:
        lay_out_condition(nodes, page)


def _frames(nodes: Sequence[Node]) -> Iterator[list[Node]]:
    part: list[Node] = []
    for node, after in pairwise([*nodes, None]):
        assert node is not None
        if part and (upper(node) in ("ROWS", "RANGE") or (upper(node) == "ORDER" and upper(after) == "BY")):
            yield part
            part = []
        part.append(node)
    yield part
