"""The merge kind of rows that are buffered for a rank: only those within its limit."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

Directions = tuple[tuple[str, str], ...]  # fields, each with a direction of runtime.arrow.ranks
KEPT = re.compile(r"top_rows\[(\w+) <= (\d+), (.*)\]")


@dataclass(frozen=True)
class TopRows:
    """Of lists of rows, the rows up to rank `last`; partials and result are lists of structs.

    `function` is row_number, rank or dense_rank. The rows are ranked by the fields `order`; only row_number uses
    `ties`. A row beyond the limit among some rows of a window is beyond it among all of them, so partials merge in any
    order.
    """

    function: str
    last: int
    order: Directions
    ties: Directions = ()

    @property
    def keys(self) -> Directions:
        """All fields that rank the rows."""
        return (*self.order, *self.ties)

    @property
    def shown(self) -> str:
        """What a call of MIN_BY or MAX_BY shows of it: how many rows it keeps."""
        return str(self.last)

    def over(self, columns: Mapping[str, str]) -> TopRows | None:
        """The same with its fields renamed; None if one of them is not a column there."""
        if not all(name in columns for name, _ in self.keys):
            return None
        order, ties = (tuple((columns[name], of) for name, of in each) for each in (self.order, self.ties))
        return TopRows(self.function, self.last, order, ties)

    def without(self, names: Collection[str]) -> TopRows | None:
        """The same without fields that do not differ among the ranked rows; None if no order remains."""
        order, ties = (tuple(key for key in each if key[0] not in names) for each in (self.order, self.ties))
        return TopRows(self.function, self.last, order, ties) if order else None

    def __str__(self) -> str:
        ties = f", ties {_words(self.ties)}" if self.ties else ""
        return f"top_rows[{self.function.upper()} <= {self.last}, {_words(self.order)}{ties}]"


def top_rows(function: str, *, order: Mapping[str, str], last: int, ties: Mapping[str, str] | None = None) -> TopRows:
    """The same, as emitted programs write it."""
    return TopRows(function, last, tuple(order.items()), tuple((ties or {}).items()))


def keeps(kind: str, wanted: str) -> bool:
    """Whether state of one merge kind has all rows that another one needs; both as text.

    Lists of all rows have those of every limit, and those up to a rank have those up to a smaller one.
    """
    held, needed = KEPT.fullmatch(kind), KEPT.fullmatch(wanted)
    if needed is None:
        return kind == wanted
    if held is None:
        return kind == "concat"
    return (held[1], held[3]) == (needed[1], needed[3]) and int(held[2]) >= int(needed[2])


def _words(keys: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {direction.replace('_', ' ').upper()}" for name, direction in keys)
