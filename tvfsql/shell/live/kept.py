"""The rows that a stream has emitted so far: as a table to which changes are applied, or as the changes themselves."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Sequence
from datetime import date
from typing import Any

from tvfsql.plan.tables.internal_columns import WINDOW_COLUMNS
from tvfsql.plan.values.times import FarTime, micros_of
from tvfsql.runtime.host.row_formats import cells

INSERT, GOES = "+I", ("-U", "-D")
SHOWN_OP = "op"

Texts = tuple[str | None, ...]


class KeptRows:
    """Keeps the newest `most` rows. With `changes` it keeps the changes themselves, each with its op in front.

    `op` is the column with the operation; None: every row is an insert.

    One thread adds rows and another one reads them; `version` shows whether there is anything new.
    """

    def __init__(self, columns: Sequence[tuple[str, str]], most: int, *, changes: bool, op: str | None = None) -> None:
        self.most, self.changes = most, changes
        self.op = next((i for i, (name, _) in enumerate(columns) if name == op), None)
        shown = [column for i, column in enumerate(columns) if i != self.op]
        self.columns = [SHOWN_OP] * changes + [name for name, _ in shown]
        self.types = ["string"] * changes + [kind or "string" for _, kind in shown]
        self.version = self.taken = self.dropped = 0
        self._rows: dict[int, tuple[Any, ...]] = {}  # by number, oldest first
        self._numbers: dict[Texts, list[int]] = {}  # the numbers of equal rows, oldest first
        self._lock = threading.Lock()

    def take(self, types: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Add the rows of a micro-batch, with their Spark types."""
        with self._lock:
            at = [i for i in range(len(types)) if i != self.op]
            self.types = ["string"] * self.changes + [types[i] for i in at]
            for row in rows:
                op = INSERT if self.op is None else row[self.op]
                values = tuple(row[i] for i in at)
                if self.changes:
                    self._add((op, *values))
                elif op in GOES:
                    self._remove(values)
                else:
                    self._add(values)
            self.version += 1

    def _add(self, row: tuple[Any, ...]) -> None:
        self.taken += 1
        self._rows[self.taken] = row
        if not self.changes:
            self._numbers.setdefault(self._key(row), []).append(self.taken)
        if len(self._rows) > self.most:
            oldest = next(iter(self._rows))
            self._forget(oldest, self._rows[oldest])
            self.dropped += 1

    def _remove(self, row: tuple[Any, ...]) -> None:
        """Remove the newest of the rows that equal this one; there is none if it was dropped before."""
        if numbers := self._numbers.get(self._key(row)):
            self._forget(numbers[-1], row)

    def _forget(self, number: int, row: tuple[Any, ...]) -> None:
        del self._rows[number]
        if not self.changes:
            key = self._key(row)
            numbers = self._numbers[key]
            del numbers[bisect_left(numbers, number)]
            if not numbers:
                del self._numbers[key]

    def _key(self, row: Sequence[Any]) -> Texts:
        return tuple(next(cells(self.types, [row])))

    def sorted(self, by: int | None, *, falling: bool) -> list[tuple[Any, ...]]:
        """The rows in the order of a column, equal ones newest first; None: in the order of arrival.

        NULL is the smallest value, as in Spark.
        """
        with self._lock:
            rows = [*self._rows.values()]
        if by is None:
            return rows[::-1] if falling else rows
        rows.reverse()
        return sorted(rows, key=lambda row: _order(row[by]), reverse=falling)

    @property
    def first_order(self) -> tuple[int | None, bool]:
        """The initial column and direction: the newest windows first; changes in the order of arrival."""
        if self.changes:
            return None, False
        ends = (self.columns.index(name) for name in (WINDOW_COLUMNS[1], WINDOW_COLUMNS[0]) if name in self.columns)
        return next(ends, None), True

    def __len__(self) -> int:
        return len(self._rows)


def _order(value: Any) -> tuple[bool, Any]:
    """A sort key for values of a column; values without an order are sorted as text."""
    if value is None:
        return False, ""
    if isinstance(value, (date, FarTime)):
        return True, micros_of(value)
    return True, str(value) if isinstance(value, (dict, list, tuple)) else value
