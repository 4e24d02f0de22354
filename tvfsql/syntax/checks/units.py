"""The units of time in EXTRACT, TIMESTAMPADD, TIMESTAMPDIFF, FLOOR and CEIL. sqlglot reads some letters as units (M as
MINUTE), and leaves unknown words to Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lark import Token

from tvfsql.errors import Span, SqlSyntaxError, did_you_mean
from tvfsql.syntax.tokens import place_of

OF_TIMES = tuple("YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND NANOSECOND".split())
MOVED = (*OF_TIMES, *(f"SQL_TSI_{unit}" for unit in OF_TIMES[:8]))
ROUNDED = (*OF_TIMES, "DECADE", "CENTURY", "MILLENNIUM")
EXTRACTED = (*ROUNDED, "DOW", "DOY", "ISODOW", "ISOYEAR", "EPOCH")
BY_FUNCTION = {"EXTRACT": EXTRACTED, "TIMESTAMPADD": MOVED, "TIMESTAMPDIFF": MOVED}


def refuse_unknown_units(tokens: Sequence[Token]) -> None:
    """Raise SqlSyntaxError for a word that is not a unit where a unit stands."""
    for token, units in _units_in(tokens):
        if token.type == "NAME" and token.upper() not in units:
            raise not_a_unit(token, place_of(token), units)


def not_a_unit(word: str, place: Span, units: Sequence[str]) -> SqlSyntaxError:
    """The error for a word where one of the `units` must stand."""
    return SqlSyntaxError(f"{word} is not a unit of time here", span=place, hint=did_you_mean(word.upper(), units))


def _units_in(tokens: Sequence[Token]) -> Iterator[tuple[Token, Sequence[str]]]:
    for first, second, third in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if first.type == "NAME" and first.upper() in BY_FUNCTION and second == "(":
            yield third, BY_FUNCTION[first.upper()]
        if first.type == "NAME" and first.upper() == "TO" and third == ")":
            yield second, ROUNDED
