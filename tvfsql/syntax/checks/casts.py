"""The types that CAST makes, read by the reader of CREATE TABLE: sqlglot skips parts of types that it does not know."""

from __future__ import annotations

from collections.abc import Sequence

from lark import Token

from tvfsql.errors import SqlSyntaxError, UnsupportedError
from tvfsql.syntax.tokens import closing, place_of, place_of_all
from tvfsql.syntax.types.words import declared_type

CASTS = ("CAST", "TRY_CAST")


def refuse_wrong_types(tokens: Sequence[Token]) -> None:
    """Raise SqlSyntaxError or UnsupportedError for a CAST to something that is not a type."""
    for i, token in enumerate(tokens[:-1]):
        if token.type != "NAME" or token.upper() not in CASTS or tokens[i + 1] != "(":
            continue
        end = closing(tokens, i + 1)
        depth, after = 0, None
        for at in range(i + 2, end):
            depth += {"OPEN": 1, "CLOSE": -1}.get(tokens[at].type, 0)
            if depth == 0 and tokens[at].upper() == "AS" and tokens[at].type != "QUOTED":
                after = at + 1
        if after is None:
            raise SqlSyntaxError(f"AS and a type are missing in {token.upper()}", span=place_of(tokens[end]))
        words = tokens[after:end]
        declared_type(words, place_of_all(words, place_of(tokens[end])))
        if any(word.upper() == "MULTISET" for word in words):
            raise UnsupportedError("CAST to MULTISET is not supported", span=place_of_all(words, place_of(tokens[end])))
