"""A stream on the whole screen: a page of its rows or a chart, a status bar, and keys to move in it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import HSplit, Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl
from prompt_toolkit.output import Output

from tvfsql.charts import Chart, Size, draw_chart
from tvfsql.errors import TvfSqlError
from tvfsql.shell.drawing import Screen, draw
from tvfsql.shell.live.kept import KeptRows

EVERY = 0.25  # seconds between two updates
AROUND = 7  # lines without rows: title, the three rules and the head of the table, status, keys
OF_VIEW = 3  # those that are not part of the table
KEYS = "q stop  arrows, PgUp, PgDn move  s S sort by  r reverse  c chart  space freeze"
CHANGE = re.compile(r"(?m)^(\| )([+-][IUD])")
OPS = {"+I": "\x1b[32m", "+U": "\x1b[36m", "-U": "\x1b[33m", "-D": "\x1b[31m"}
PLAIN = "\x1b[0m"


@dataclass
class LiveView:
    """`status` returns the text of the status bar. `stop` is called with the number of times that a key asked for the
    end of the stream.
    """

    kept: KeptRows
    status: Callable[[], str]
    stop: Callable[[int], None]
    screen: Screen
    chart: Chart | None = None
    top: int = 0  # the first row of the page
    last: int = 0  # the first row of the last page
    left: int = 0  # the first column
    presses: int = 0
    frozen: bool = False
    at_end: bool = True  # the page of changes follows the newest one
    _order: tuple[int | None, bool] = field(init=False)
    _seen: tuple[Any, ...] = ()
    _rows: list[tuple[Any, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._order = self.kept.first_order

    def run(self, work: Callable[[], object], *, input: Input | None = None, output: Output | None = None) -> None:
        """Show the stream while `work` runs in its own thread. Raises the errors of `work`."""
        ended = threading.Event()
        raised: list[BaseException] = []

        def do_work() -> None:
            try:
                work()
            except BaseException as error:
                raised.append(error)
            finally:
                ended.set()

        app: Application[None] = Application(
            layout=Layout(
                HSplit(
                    [
                        Window(FormattedTextControl(self.title), height=1),
                        Window(FormattedTextControl(lambda: ANSI(self._body(app)))),
                        Window(FormattedTextControl(self.status), height=1, style="reverse"),
                        Window(FormattedTextControl(KEYS), height=1),
                    ]
                )
            ),
            key_bindings=self._keys(),
            full_screen=True,
            refresh_interval=EVERY,
            input=input,
            output=output,
        )

        def leave() -> None:
            while not ended.wait(EVERY):
                if self.presses:
                    self.stop(self.presses)  # again, to stop a stream that started after the key was pressed
            loop = app.loop
            if loop is not None:
                loop.call_soon_threadsafe(app.exit)

        def begin() -> None:
            threading.Thread(target=do_work, name="tvfsql-followed", daemon=True).start()
            threading.Thread(target=leave, name="tvfsql-view", daemon=True).start()

        app.run(pre_run=begin, handle_sigint=False)
        if raised:
            raise raised[0]

    # -------------------------------------------------------------------------------------- what is shown

    def page(self, width: int, height: int) -> str:
        """The rows that fit, or the chart."""
        rows = self.rows()
        if self.chart is not None:
            try:
                size = Size(width, height, self.screen.colours)
                return draw_chart(self.kept.columns, self.kept.types, rows, self.chart, size)
            except TvfSqlError as error:
                return str(error)
        count = max(1, height - AROUND + OF_VIEW)
        self.last = max(0, len(rows) - count)
        self.top = self.last if self.kept.changes and self.at_end else min(self.top, self.last)
        self.left = min(self.left, len(self.kept.columns) - 1)
        screen = Screen(width, "off", self.screen.null, self.screen.colours)
        shown = [row[self.left :] for row in rows[self.top : self.top + count]]
        text = draw(self.kept.columns[self.left :], self.kept.types[self.left :], shown, screen)
        if self.kept.changes and self.left == 0 and self.screen.colours:
            text = CHANGE.sub(lambda found: f"{found[1]}{OPS[found[2]]}{found[2]}{PLAIN}", text)
        return text

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows in order; while the view is frozen, the rows from before."""
        now = (self.kept.version, self._order)
        if now != self._seen and not (self.frozen and self._seen and self._seen[1] == self._order):
            self._rows = self.kept.sorted(self._order[0], falling=self._order[1])
            self._seen = now
        return self._rows

    def title(self) -> str:
        """`12 rows, by window_end, descending  |  from row 1`, and what was left out."""
        rows, (by, falling) = self.rows(), self._order
        order = "in order of arrival" if by is None else f"by {self.kept.columns[by]}"
        parts = [f"{len(rows):,} {'changes' if self.kept.changes else 'rows'}, {order}"]
        parts[0] += ", newest first" if by is None and falling else ", descending" if falling else ""
        if self.chart is None and rows:
            parts.append(f"from row {self.top + 1:,}")
        if self.left:
            parts.append(f"from column {self.left + 1}")
        if self.kept.dropped:
            parts.append(f"{self.kept.dropped:,} older ones are dropped")
        if self.frozen:
            parts.append("frozen")
        return "  ".join(parts)

    def _body(self, app: Application[None]) -> str:
        size = app.output.get_size()
        return self.page(size.columns, size.rows - OF_VIEW)

    # -------------------------------------------------------------------------------------- keys

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        def on(*names: str) -> Callable[[Callable[[int], None]], None]:
            def bind(act: Callable[[int], None]) -> None:
                for name in names:
                    keys.add(name)(lambda event: act(_page(event)))

            return bind

        @on("q", "Q", "c-c", "escape", "c-d")
        def _(page: int) -> None:
            self.presses += 1

        @on("up", "k")
        def _(page: int) -> None:
            self._move(-1)

        @on("down", "j")
        def _(page: int) -> None:
            self._move(1)

        @on("pageup", "p")
        def _(page: int) -> None:
            self._move(-page)

        @on("pagedown", "n")
        def _(page: int) -> None:
            self._move(page)

        @on("home", "g")
        def _(page: int) -> None:
            self._move(-len(self._rows))

        @on("end", "G")
        def _(page: int) -> None:
            self._move(len(self._rows))

        @on("left")
        def _(page: int) -> None:
            self.left = max(0, self.left - 1)

        @on("right")
        def _(page: int) -> None:
            self.left += 1

        @on("s")
        def _(page: int) -> None:
            self._sort(1)

        @on("S")
        def _(page: int) -> None:
            self._sort(-1)

        @on("r")
        def _(page: int) -> None:
            self._order = (self._order[0], not self._order[1])

        @on("c")
        def _(page: int) -> None:
            self.chart = Chart() if self.chart is None else None

        @on("space")
        def _(page: int) -> None:
            self.frozen = not self.frozen

        return keys

    def _move(self, rows: int) -> None:
        self.top = min(self.last, max(0, self.top + rows))
        self.at_end = self.top == self.last

    def _sort(self, step: int) -> None:
        """Take the next column, and the order of arrival after the last one."""
        choices = [*range(len(self.kept.columns)), None]
        self._order = (choices[(choices.index(self._order[0]) + step) % len(choices)], self._order[1])


def _page(event: KeyPressEvent) -> int:
    return max(1, event.app.output.get_size().rows - AROUND)
