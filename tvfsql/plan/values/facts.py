"""Facts about an expression besides its type, taken from its tree when it is bound."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Facts:
    """`deterministic`: it has one value for a row, unless the clock is read. `reads_clock`: its value follows the time
    of the query or of the micro-batch. `can_fail`: it could fail for some values of its columns; users' functions do
    not count.
    """

    deterministic: bool = True
    reads_clock: bool = False
    can_fail: bool = False

    def and_those(self, others: Iterable[Facts]) -> Facts:
        """The facts of an expression that has all these parts."""
        parts = (self, *others)
        return Facts(
            all(part.deterministic for part in parts),
            any(part.reads_clock for part in parts),
            any(part.can_fail for part in parts),
        )


PLAIN = Facts()


# Whether SQL templates of tvfsql's own can fail for some values. Nothing that a user wrote is in their text.


# Words before a parenthesis that cannot fail: keywords of SQL, and functions without an error in ANSI mode.
SAFE = frozenset(
    "and array between case coalesce char_length concat concat_ws else exists filter from greatest hash if in "
    "isnotnull isnull least length like lower ltrim not nullif nvl or rtrim size startswith struct "
    "named_struct substring then transform trim try_cast upper when".split()
)
LITERALS = re.compile(r"'(?:[^'\\]|\\.)*'|`(?:[^`]|``)*`")
SHIFTED = re.compile(r"[+-] INTERVAL\b", re.IGNORECASE)  # a time stays in its range
NEGATIVE = re.compile(r"(?<=[(,=<>] )-(?=\d)|(?<=\()-(?=\d)")  # a literal
CALLS = re.compile(r"(\w+)\s*\(")
OPERATORS = re.compile(r"-(?!>)|[+*/%\[]|\bdiv\b", re.IGNORECASE)


@cache
def fails(template: str) -> bool:
    """Whether it could fail, unless it is known that it cannot."""
    text = NEGATIVE.sub("", SHIFTED.sub("", LITERALS.sub("x", template)))
    return bool(OPERATORS.search(text)) or any(name.lower() not in SAFE for name in CALLS.findall(text))
