"""What can stand in FROM of a random script, and the SELECTs over it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tests.models.random_tables import Column


@dataclass(frozen=True)
class Rows:
    """What can stand in FROM: a name or a query in parentheses, with its columns.

    `time` says whether `ts` is its event time, `id` whether the column `id` differs from row to row (or from row to row
    of a window, if it has the columns of windows).
    """

    text: str
    columns: tuple[Column, ...]
    time: bool = False
    id: bool = False
    name: bool = False  # it is a table or a view

    def has(self, *names: str) -> bool:
        return {*names} <= {each.name for each in self.columns}

    def kind(self, name: str) -> str:
        """The kind of a column; empty without a column."""
        return next((each.kind for each in self.columns if each.name == name), "")

    @property
    def windowed(self) -> bool:
        return self.has("window_start", "window_end")


def select(items: Iterable[tuple[str, Column]], source: str) -> str:
    chosen = ", ".join(text if text == column.name else f"{text} AS {column.name}" for text, column in items)
    return f"SELECT {chosen} FROM {source}"


def columns_of(items: Iterable[tuple[str, Column]]) -> tuple[Column, ...]:
    return tuple(column for _, column in items)


def nested(rows: Rows) -> Rows:
    return replace(rows, text=f"({rows.text})", name=False, time=False)
