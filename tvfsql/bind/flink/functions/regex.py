"""Groups of regular expressions. For a group that does not take part in the match Spark returns '' and Flink NULL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from re import _parser as parser
from typing import Any


@dataclass(frozen=True)
class Group:
    """Whether the pattern can match without the group, and whether the group can match the empty text."""

    optional: bool
    may_be_empty: bool

    @staticmethod
    def of(regex: str, number: int) -> Group | None:
        """Return the group of that number; 0 is the whole match. None if Python cannot parse the expression."""
        try:
            tree = parser.parse(regex)
        except (re.error, OverflowError):
            return None
        if number == 0:
            return Group(optional=False, may_be_empty=False)
        widths = [part.getwidth()[0] for group, part in _groups(tree) if group == number]
        return Group(not _in_every_match(tree, number), 0 in widths)


def _in_every_match(tree: Any, number: int) -> bool:
    for kind, value in tree:
        match str(kind):
            case "SUBPATTERN" if value[0] == number or _in_every_match(value[-1], number):
                return True
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT" if value[0] and _in_every_match(value[2], number):
                return True
            case "ATOMIC_GROUP" if _in_every_match(value, number):
                return True
    return False


def _groups(tree: Any) -> Iterator[tuple[int, Any]]:
    """Yield all groups inside, with their numbers."""
    for kind, value in tree:
        if str(kind) == "SUBPATTERN":
            yield value[0], value[-1]
        for part in value if isinstance(value, tuple | list) else (value,):
            for inner in part if isinstance(part, list) else (part,):
                if isinstance(inner, parser.SubPattern):
                    yield from _groups(inner)


def is_invalid(regex: str | None) -> bool:
    """Whether the regular expression is certainly invalid in Java too: its parentheses do not match."""
    if regex is None or "\\Q" in regex:
        return False
    try:
        parser.parse(regex)
    except re.error as error:
        return error.msg.startswith(("missing ), unterminated subpattern", "unbalanced parenthesis"))
    except (OverflowError, RecursionError):
        return False
    return False


def has_group(regex: str | None, number: str | None) -> bool:
    """Whether the group may exist; always True for an expression or a number that is not a literal."""
    if number is not None and number.startswith("-"):
        return False
    if regex is None or not (number or "").isdecimal():
        return True
    try:
        return bool(int(number or 0) < parser.parse(regex).state.groups)
    except (re.error, OverflowError, RecursionError):
        return True
