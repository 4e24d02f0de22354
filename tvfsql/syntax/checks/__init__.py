"""Checks of the text itself: what sqlglot would skip, or read as something else."""

from __future__ import annotations

from collections.abc import Sequence

from lark import Token

from tvfsql.errors import Span, SqlSyntaxError, UnsupportedError
from tvfsql.syntax.checks.casts import refuse_wrong_types
from tvfsql.syntax.checks.commas import refuse_idle_commas
from tvfsql.syntax.checks.units import refuse_unknown_units
from tvfsql.syntax.tokens import place_of

SKIPPED = {
    "ORDER BY ALL": "ORDER BY a, b",
    "ON OVERFLOW ERROR": "LISTAGG(x, ',')",
    "ON OVERFLOW TRUNCATE": "LISTAGG(x, ',')",
}


def refuse_misread(tokens: Sequence[Token]) -> None:
    """Raise SqlSyntaxError or UnsupportedError for words of a query or an expression that sqlglot would misread."""
    refuse_idle_commas(tokens)
    refuse_unknown_units(tokens)
    refuse_wrong_types(tokens)
    _refuse_others(tokens)


def _refuse_others(tokens: Sequence[Token]) -> None:
    """Refuse what sqlglot would skip or read as something else: clauses of Flink, words of SKIPPED, two directions of a
    sort, FILTER without WHERE, and braces, which replace a table's name.
    """
    for i, token in enumerate(tokens):
        match [str(each).upper() for each in tokens[i : i + 4]]:
            case [first, second, third, *_] if (words := f"{first} {second} {third}") in SKIPPED:
                place = Span(place_of(token).start, place_of(tokens[i + 2]).end)
                raise UnsupportedError(f"{words} is not supported", span=place, hint=SKIPPED[words])
            case ["ASC", "DESC", *_] | ["DESC", "ASC", *_]:
                raise SqlSyntaxError(f"unexpected {tokens[i + 1]}", span=place_of(tokens[i + 1]))
            case [")", "FILTER", "(", word] if word != "WHERE":
                raise SqlSyntaxError("expected WHERE after FILTER (", span=place_of(tokens[i + 3]))
            case ["{" | "}", *_]:
                raise SqlSyntaxError(f"unexpected {token} in a query", span=place_of(token))
