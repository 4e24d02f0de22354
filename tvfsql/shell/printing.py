"""Prints results in the shell: counted, limited, and drawn for the screen."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from tvfsql.answers import Answers
from tvfsql.api import Compiled, Result
from tvfsql.api.listings import Listing
from tvfsql.api.script import Outcome
from tvfsql.options.known import MOST_ROWS, RESULT_MODE
from tvfsql.options.words import ResultMode
from tvfsql.physical.streams.changes import op_of
from tvfsql.runtime.host.status_line import working
from tvfsql.shell.drawing import draw
from tvfsql.shell.interrupts import cancel
from tvfsql.shell.pager import scrolls_sideways
from tvfsql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvfsql.shell.display import Display


CHARTED = 10_000  # rows of a result that a chart draws
HIGHEST = 24  # lines of a chart in the shell


@dataclass
class ShellAnswers(Answers):
    """The results of one statement. `rows` is the number of its rows; None if it returns none."""

    display: Display | None = field(default=None, kw_only=True)
    rows: int | None = None
    paged: str = ""  # a result for the pager, which the main thread shows
    followed: bool = False  # whether the result was already seen, as a stream on the whole screen

    def text_of(self, result: Result) -> str:
        match result.outcome:
            case Listing(columns, rows):
                return self._drawn(columns, ["string"] * len(columns), rows)
            case Compiled() if self._display.chart is not None:
                return self._charted(*result.rows(CHARTED + 1))
            case Compiled():
                return self._drawn(*result.rows(self._limit and self._limit + 1))
        return result.text(self.format)

    def drawn(self, columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
        draw_rows = self._drawn if self._display.chart is None else self._charted
        return draw_rows(columns, types, rows)

    @property
    def _display(self) -> Display:
        assert self.display is not None
        return self.display

    @property
    def _limit(self) -> int:
        return self._display.settings.limit if self._to_person else 0

    @property
    def _to_person(self) -> bool:
        return self._display.terminal and self._display.out is None

    def _drawn(self, columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
        shown = rows[: self._limit] if self._limit else rows
        self.rows = len(shown)
        note = ""
        if len(shown) < len(rows):
            note = f"the first {len(shown)} rows: \\limit 0 shows all\n"
        if self.format == "table" and self._display.terminal:
            return self._on_screen(columns, types, shown, note)
        return self.written(columns, types, shown) + note

    def _on_screen(
        self, columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[object]], note: str
    ) -> str:
        """The rows cut to the screen; all columns if a pager shows them that scrolls sideways."""
        screen = self._display.screen
        text = draw(columns, types, rows, screen) + note
        if screen.expanded == "off" and scrolls_sideways(self._pager_for(text)):
            return draw(columns, types, rows, replace(screen, width=0)) + note
        return text

    def _print(self, text: str) -> None:
        """Keep a result for the pager that is too long for the screen, and print others."""
        if self._pager_for(text):
            self.paged = text
        else:
            super()._print(text)

    def _pager_for(self, text: str) -> list[str]:
        return [] if self.followed else self._display.pager_for(text)

    def _charted(self, columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
        from tvfsql.charts import Chart, Size, draw_chart

        shown = rows[:CHARTED]
        self.rows = len(shown)
        screen = shutil.get_terminal_size((100, 24))
        size = Size(screen.columns, min(screen.lines - 4, HIGHEST), self._display.screen.colours)
        note = f"of the first {CHARTED:,} rows\n" if len(shown) < len(rows) else ""
        return draw_chart(columns, types, shown, self._display.chart or Chart(), size) + note

    def _follow(self, query: Compiled) -> str:
        """Show an unbounded SELECT on the whole screen, or one table after the other.

        Returns its last page, which stays on the screen.
        """
        mode = self.session.options[RESULT_MODE]
        if not self._to_person or self.format != "table" or (mode is ResultMode.TABLEAU and not self._display.chart):
            return super()._follow(query)
        from tvfsql.charts import check_columns
        from tvfsql.shell.live import KeptRows, LiveView

        changes = mode is ResultMode.CHANGELOG and self._display.chart is None  # a chart has the current values
        most = self.session.options[MOST_ROWS]
        kept = KeptRows(query.names_and_types, most, changes=changes, op=op_of(query.physical))
        if self._display.chart is not None:
            check_columns(self._display.chart, kept.columns)
        with working("running"):
            self.session.spark  # noqa: B018  (start it under the progress line)
        begun, say = time.monotonic(), self._live()

        def status() -> str:
            return say() or f"waiting for the first rows  {time.monotonic() - begun:.0f} s"

        display, self.followed = self._display, True
        view = LiveView(kept, status, partial(cancel, self.session), display.screen, display.chart)
        view.run(lambda: self.session.follow(query, lambda rows: kept.take(rows[1], rows[2])))
        if display.chart is not None:
            return view.page(display.screen.width, HIGHEST)
        return self._drawn(kept.columns, kept.types, view.rows()[-self._limit - 1 :] if kept.changes else view.rows())


def last_query(outcome: Outcome) -> str | None:
    """The text of a SELECT, which later statements can refer to; None for other statements."""
    if not isinstance(outcome, Compiled) or not isinstance(outcome.ast, ast.Query):
        return None
    return outcome.sql
