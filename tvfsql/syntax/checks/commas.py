"""Commas with nothing before or after them. sqlglot would skip them, and with them what was forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from lark import Token

from tvfsql.errors import SqlSyntaxError
from tvfsql.syntax.tokens import place_of

BEFORE_A_LIST = ("SELECT", "DISTINCT", "BY", "FROM", "WHEN")
AFTER_A_LIST = ("FROM", "WHERE", "HAVING", "UNION", "EXCEPT", "INTERSECT")


def refuse_idle_commas(tokens: Sequence[Token]) -> None:
    """Raise SqlSyntaxError for a comma that is not between two items."""
    for before, token in pairwise(tokens):
        if token.type == "COMMA" and _begins_list(before):
            raise SqlSyntaxError("something is missing before this comma", span=place_of(token), hint="leave it out")
        if before.type == "COMMA" and (token in (")", "]") or token.upper() in AFTER_A_LIST):
            raise SqlSyntaxError(f"unexpected {token}", span=place_of(token), hint="leave out the comma before it")
    if tokens and tokens[-1].type == "COMMA":
        raise SqlSyntaxError("nothing follows this comma", span=place_of(tokens[-1]))


def _begins_list(token: Token) -> bool:
    return token.type == "COMMA" or token in ("(", "[") or (token.type == "NAME" and token.upper() in BEFORE_A_LIST)
