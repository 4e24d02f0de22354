"""A stream on the whole screen: a page of its rows or a chart, a status bar, and keys to move in it."""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
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
from tvfsql.plan.tables.internal_columns import WINDOW_COLUMNS
from tvfsql.plan.values.times import FarTime, micros_of
from tvfsql.runtime.host.row_formats import cells
from tvfsql.shell.drawing import Screen, draw

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


# The rows that a stream has emitted so far: as a table to which changes are applied, or as the changes themselves.


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
        """Remove the newest of the rows that equal this one, unless it was dropped before."""
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
