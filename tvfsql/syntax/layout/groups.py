"""Words as a tree of parentheses, brackets and CASE, and the blanks between two words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tvfsql.syntax.layout.keywords import QUERY_STARTS, RESERVED
from tvfsql.syntax.layout.patterns import QUANTIFIER
from tvfsql.syntax.layout.word import Word
from tvfsql.syntax.layout.words import SYMBOLS

# keywords before a parenthesis that is not that of a call
APART = RESERVED | frozenset(
    "BY DISTRIBUTED ENFORCED FILTER GROUP IN IS KEY MATCH_RECOGNIZE OPTIONS OVER PATTERN RESET SET SETS TABLES".split()
)


NAMES = ("NAME", "QUOTED", "COMMA")


@dataclass
class Group:
    """What stands between two words that belong together: ( and ), [ and ], CASE and END."""

    open: Word
    parts: list[Node]
    close: Word

    @property
    def is_query(self) -> bool:
        return starts_query(self.parts)


Node = Word | Group


def grouped(words: Iterable[Word]) -> list[Node]:
    """The tree of a statement, whose parentheses are balanced."""
    stack: list[tuple[Word | None, list[Node]]] = [(None, [])]
    for word in words:
        opened = stack[-1][0]
        if word.kind in ("OPEN", "LEFT") or word.text == "CASE":
            stack.append((word, []))
        elif opened is not None and _closes(opened, word):
            parts = stack.pop()[1]
            opened.spaced = _follows_a_name(stack[-1][1], parts)
            stack[-1][1].append(Group(opened, parts, word))
        else:
            stack[-1][1].append(word)
    while len(stack) > 1:  # a bracket that nothing closes
        opened, parts = stack.pop()
        assert opened is not None
        stack[-1][1].extend([opened, *parts])
    return stack[0][1]


def _closes(opened: Word, word: Word) -> bool:
    if opened.text == "CASE":
        return word.text == "END"
    return (opened.kind, word.kind) in (("OPEN", "CLOSE"), ("LEFT", "RIGHT"))


def _follows_a_name(before: Sequence[Node], parts: Sequence[Node]) -> bool:
    """Whether parentheses list the columns of what is named before them: AS t (a, b)."""
    first, last = (upper(before[at]) if before else "" for at in (0, -1))
    begun = any(isinstance(node, Group) or node.upper in (*QUERY_STARTS, "AS") for node in before)
    if first in ("CREATE", "INSERT") and not begun:
        return last not in ("DISTRIBUTED", "INTO")
    if first == "ALTER":
        return last in ("ADD", "DROP", "MODIFY")
    named = upper(before[-2] if len(before) > 1 else None) in ("AS", "WITH", "LIKE")
    return named and bool(parts) and all(isinstance(each, Word) and each.kind in NAMES for each in parts)


def words_of(nodes: Iterable[Node]) -> Iterator[Word]:
    """The words of a tree, in order."""
    for node in nodes:
        if isinstance(node, Word):
            yield node
        else:
            yield from words_of([node.open, *node.parts, node.close])


def upper(node: Node | None) -> str:
    """A word in capitals; nothing for a group."""
    return node.upper if isinstance(node, Word) else ""


def starts_query(nodes: Sequence[Node]) -> bool:
    """Whether a query is all there is: a SELECT, or one in parentheses."""
    if not nodes:
        return False
    first = nodes[0]
    if isinstance(first, Group):
        return first.is_query and (len(nodes) == 1 or upper(nodes[1]) in ("UNION", "EXCEPT", "INTERSECT", "ORDER"))
    return upper(first) in QUERY_STARTS


def split(nodes: Sequence[Node], at: str) -> list[list[Node]]:
    """The parts between commas, each with the word that ends it."""
    parts: list[list[Node]] = [[]]
    for node in nodes:
        parts[-1].append(node)
        if isinstance(node, Word) and node.kind == at:
            parts.append([])
    return [part for part in parts if part]


def flat(nodes: Iterable[Node]) -> str | None:
    """The nodes on one line, without the comments around them; None if a comment between them ends a line."""
    text, before = "", None
    for word in words_of(nodes):
        if before is not None and (before.after or word.before):
            return None
        text += blank(before, word) + word.text if before else word.text
        before = word
    return text


def blank(before: Word, word: Word) -> str:
    """What stands between two words of a line."""
    kinds = (before.kind, word.kind)
    if word.kind == QUANTIFIER:
        return ""
    if word.kind in ("COMMA", "SEMICOLON", "CLOSE", "RIGHT") or before.kind in ("OPEN", "LEFT", "UNARY"):
        return " " if kinds == ("UNARY", "UNARY") or before.kind == "COMMENT" else ""
    as_it_is = "" if word.glued else " "
    if "DOT" in kinds:
        return as_it_is if "NUMBER" in kinds else ""
    if word.kind in ("OPEN", "LEFT"):
        called = before.kind in ("NAME", "QUOTED") and before.upper not in APART
        element = word.kind == "LEFT" and before.kind in ("RIGHT", "CLOSE")
        return "" if element or (called and not word.spaced) else " "
    if kinds == ("NUMBER", "NAME") or (kinds == ("NAME", "STRING") and len(before.text) == 1):
        return as_it_is  # 10L, X'0A'
    if {before.text, word.text} & {":", "?", "@", "#", "&"}:
        return as_it_is
    if before.kind in SYMBOLS and word.kind in SYMBOLS:
        return as_it_is  # <=, ||
    return " "
