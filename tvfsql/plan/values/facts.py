"""Facts about an expression besides its type, taken from its tree when it is bound."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


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
