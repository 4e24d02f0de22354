"""Improves syntax errors: names what is missing, and the keyword that a misspelled word was meant to be."""

from __future__ import annotations

from collections.abc import Sequence

from lark import Token

from tvfsql.errors import SqlSyntaxError, nearest
from tvfsql.syntax.tokens import place_of

NEED_BY = ("GROUP", "ORDER", "PARTITION")
KEYWORDS = ("FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "JOIN", "UNION", "SELECT", "BETWEEN", "OFFSET")
ALIKE = 0.72
WINDOW_HINT = (
    "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE)) in FROM, and GROUP BY window_start, window_end"
)
NEAR = 3  # how many words before an error are searched for its cause


def refuse_no_columns(tokens: Sequence[Token]) -> None:
    """Refuse a SELECT without columns, which sqlglot accepts."""
    for i, token in enumerate(tokens):
        after = [each.upper() for each in tokens[i + 1 : i + 3]]
        if token.type == "NAME" and token.upper() == "SELECT" and _begins_from(after):
            raise SqlSyntaxError("a column is missing after SELECT", span=place_of(token), hint="SELECT * FROM ...")


def _begins_from(words: Sequence[str]) -> bool:
    if words[:1] in (["DISTINCT"], ["ALL"]):
        words = words[1:]
    return words[:1] == ["FROM"]


def explained(error: SqlSyntaxError, tokens: Sequence[Token]) -> SqlSyntaxError:
    """Return the same error, or a better one at the place of its cause. `tokens` are those of the query."""
    if error.span is None:
        return error
    at = next((i for i, each in enumerate(tokens) if place_of(each).end > error.span.start), len(tokens) - 1)
    for i in range(max(0, at - NEAR), min(at + 1, len(tokens))):
        token, after = tokens[i], tokens[i + 1].upper() if i + 1 < len(tokens) else ""
        if token.type != "NAME":
            continue
        word = token.upper()
        if word == "WINDOW" and after == "(":
            return SqlSyntaxError("Spark's window() is not supported here", span=place_of(token), hint=WINDOW_HINT)
        if word in NEED_BY and after not in ("BY", "(", ",", ".", *KEYWORDS):
            return SqlSyntaxError(f"BY is missing after {word}", span=place_of(token), hint=f"{word} BY column")
        if error.hint:
            continue
        close = nearest(token, KEYWORDS, ALIKE)
        if i < at and close and close != word and not _is_qualified(tokens, i):
            return SqlSyntaxError(f"unexpected {token}", span=place_of(token), hint=f"did you mean {close}?")
    if error.hint:
        return error
    if error.message.startswith("expecting (") and tokens[at - 1].upper() == "AS":
        error.advice = "WITH part AS (SELECT ...)"
    elif error.message.startswith("unexpected ") and at and _are_names(tokens[at - 1], tokens[at]):
        error.advice = f"is a comma missing before {tokens[at]}?"
    elif error.message == "unexpected (" and at > 1 and _are_names(tokens[at - 2], tokens[at - 1]):
        error.advice = f"is a comma missing before {tokens[at - 1]}?"  # a COUNT( is read as `a AS COUNT`, and (
    return error


def _is_qualified(tokens: Sequence[Token], i: int) -> bool:
    """Whether a word is part of a dotted name, or is called as a function."""
    beside = [each.type for each in (*tokens[max(0, i - 1) : i], *tokens[i + 1 : i + 2])]
    return "DOT" in beside or "OPEN" in beside[-1:]


def _are_names(one: Token, two: Token) -> bool:
    return all(each.type in ("NAME", "QUOTED") and each.upper() not in KEYWORDS for each in (one, two))
