"""Checks of the text itself: what sqlglot would skip, or read as something else."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from lark import Token

from tvfsql.errors import Span, SqlSyntaxError, UnsupportedError
from tvfsql.syntax.checks.commas import refuse_idle_commas
from tvfsql.syntax.checks.units import refuse_unknown_units
from tvfsql.syntax.tokens import place_of

SKIPPED = {
    "GROUP BY DISTINCT": "GROUP BY GROUPING SETS ((a), ())",
    "ORDER BY ALL": "ORDER BY a, b",
    "ON OVERFLOW ERROR": "LISTAGG(x, ',')",
    "ON OVERFLOW TRUNCATE": "LISTAGG(x, ',')",
}


def refuse_misread(tokens: Sequence[Token]) -> None:
    """Raise SqlSyntaxError or UnsupportedError for words of a query or an expression that sqlglot would misread."""
    refuse_idle_commas(tokens)
    refuse_unknown_units(tokens)
    _refuse_others(tokens)


def _refuse_others(tokens: Sequence[Token]) -> None:
    """Refuse what sqlglot would skip or read as something else: clauses of Flink, words of SKIPPED, and braces, which
    replace a table's name.
    """
    for first, second, third in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if (words := f"{first} {second} {third}".upper()) in SKIPPED and third.type == "NAME":
            place = Span(place_of(first).start, place_of(third).end)
            raise UnsupportedError(f"{words} is not supported", span=place, hint=SKIPPED[words])
    for name, after in pairwise(tokens):
        if name.type == "NAME" and name.upper() == "MATCH_RECOGNIZE" and after.type == "OPEN":
            raise UnsupportedError("MATCH_RECOGNIZE is not supported", span=place_of(name))
        if after.type == "OPERATOR" and after in ("{", "}"):
            raise SqlSyntaxError(f"{after} is no part of a query", span=place_of(after))
