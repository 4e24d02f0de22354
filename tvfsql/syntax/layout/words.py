"""The words of a script, each with the comments around it."""

from __future__ import annotations

import re

from lark import Token

from tvfsql.syntax.layout.keywords import put_into_capitals
from tvfsql.syntax.layout.patterns import mark_patterns
from tvfsql.syntax.layout.word import Comment, Word
from tvfsql.syntax.tokens import tokens_of

SYMBOLS = ("ARROW", "EQUAL", "LESS", "GREATER", "SIGN", "OPERATOR")
TYPES = ("ARRAY", "MAP", "MULTISET", "ROW", "STRUCT")  # ARRAY<INT>
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


def read(sql: str) -> tuple[list[Word], list[Comment]]:
    """The words of a script, keywords in capitals, and the comments below the last one."""
    words: list[Word] = []
    above: list[Comment] = []
    end = 0
    for token in [*tokens_of(sql), Token("END", "", len(sql), end_pos=len(sql))]:
        start = token.start_pos or 0
        for found in _COMMENT.finditer(sql, end, start):
            end = _add_comment(sql, found, end, start, words, above)
        blank = sql[end:start]
        words.append(Word(str(token), token.type, start, not blank, blank.count("\n") > 1, above))
        above = []
        end = token.end_pos or 0
    last = words.pop()
    _find_brackets(words)
    put_into_capitals(words)
    mark_patterns([word for word in words if word.kind not in ("COMMENT", "HINT")])
    return words, last.before


def same_contents(old: str, new: str) -> bool:
    """Whether two scripts differ only in blanks and in capitals of keywords."""
    if [each.rstrip() for each in _comments(old)] != [each.rstrip() for each in _comments(new)]:
        return False
    before, after = tokens_of(old), tokens_of(new)
    return len(before) == len(after) and all(
        was == now or (was.type == "NAME" and was.upper() == now) for was, now in zip(before, after, strict=True)
    )


def _comments(sql: str) -> list[str]:
    ends = [0, *(token.end_pos or 0 for token in tokens_of(sql))]
    starts = [*(token.start_pos or 0 for token in tokens_of(sql)), len(sql)]
    return [text for start, end in zip(ends, starts, strict=True) for text in _COMMENT.findall(sql, start, end)]


def _add_comment(sql: str, found: re.Match[str], start: int, end: int, words: list[Word], above: list[Comment]) -> int:
    """Add a comment between `start` and `end` where it belongs, and return its end."""
    text = found[0].rstrip()
    gap, rest = sql[start : found.start()], sql[found.end() : end].lstrip(" \t\r")
    hint = text.startswith("/*+")
    begins_line = "\n" in gap or not words or bool(above)  # a comment after one of several lines, too
    ends_line = rest.startswith("\n") or (not rest and end == len(sql))
    if not hint and ((begins_line and ends_line) or "\n" in text):
        above.append(Comment(text, gap.count("\n") > 1))
    elif not hint and ends_line:
        joins = words[-1].kind in ("COMMA", "SEMICOLON") and len(words) > 1 and words[-2].after
        if joins:  # the line that they share has one already
            above.append(Comment(text, False))
        else:
            words[-1].after.append(text)
    else:
        words.append(Word(text, "HINT" if hint else "COMMENT", found.start(), before=[*above]))
        above.clear()
    return found.end()


def _find_brackets(words: list[Word]) -> None:
    """Tell signs from minus and plus, and the angle brackets of types from less and greater."""
    depth = 0
    before = Word("", "OPEN", 0)
    for word in words:
        if word.kind == "SIGN" and _needs_operand(before):
            word.kind = "UNARY"
        elif word.kind == "LESS" and (depth or before.upper in TYPES) and before.upper in TYPES:
            word.kind, depth = "LEFT", depth + 1
        elif word.kind == "GREATER" and depth:
            word.kind, depth = "RIGHT", depth - 1
        elif word.text in "[]" and word.kind == "OPERATOR":
            word.kind = "LEFT" if word.text == "[" else "RIGHT"
        if word.kind not in ("COMMENT", "HINT"):
            before = word


def _needs_operand(word: Word) -> bool:
    """Whether a sign after this word is that of a number, not an operator between two."""
    return word.kind in (*SYMBOLS, "OPEN", "COMMA", "LEFT", "UNARY") or word.upper in (
        "AND", "BETWEEN", "BY", "CASE", "ELSE", "INTERVAL", "LIMIT", "NOT", "OR", "SELECT", "THEN", "WHEN", "WHERE",
    )  # fmt: skip
