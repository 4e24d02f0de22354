"""Answers as the shell prints them: counted, limited, and drawn for the screen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tvfsql.answers import Answers
from tvfsql.api import Compiled, Result
from tvfsql.api.script import Listing, Outcome
from tvfsql.shell.drawing import draw
from tvfsql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvfsql.shell.state import Shell


@dataclass
class ShellAnswers(Answers):
    """The answers of one statement. `rows` is how many rows it gave, None if it gives none."""

    shell: Shell | None = field(default=None, kw_only=True)
    rows: int | None = None

    def text_of(self, result: Result) -> str:
        match result.outcome:
            case Listing(columns, rows):
                return self._drawn(columns, ["string"] * len(columns), rows)
            case Compiled():
                return self._drawn(*result.rows(self._limit and self._limit + 1))
        return result.text(self.format)

    @property
    def _limit(self) -> int:
        shell = self.shell
        return shell.settings.limit if shell and shell.terminal and shell.out is None else 0

    def _drawn(self, columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
        assert self.shell is not None
        shown = rows[: self._limit] if self._limit else rows
        self.rows = len(shown)
        note = ""
        if len(shown) < len(rows):
            note = f"the first {len(shown)} rows: \\limit 0 shows all\n"
        if self.format == "table" and self.shell.terminal:
            return draw(columns, types, shown, self.shell.screen) + note
        return self.written(columns, types, shown) + note


def last_query(outcome: Outcome) -> str | None:
    """The text of a SELECT, for the next statements; None for others."""
    if not isinstance(outcome, Compiled) or not isinstance(outcome.ast, ast.Query):
        return None
    return outcome.sql[outcome.ast.span.start : outcome.ast.span.end] if outcome.ast.span else None
