"""How a shell shows what it prints: its settings, and where results go."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from tvfsql.errors import DataError
from tvfsql.shell.drawing import DIM, PLAIN, Screen
from tvfsql.shell.pager import is_long, pager

if TYPE_CHECKING:
    from tvfsql.charts import Chart


@dataclass
class Settings:
    """The settings that the shell's commands change. `limit`: the most rows of a result that are shown; 0: all."""

    format: str = "table"
    timing: bool = True
    expanded: str = "off"
    limit: int = 200
    null: str = "NULL"
    keys: str = "emacs"
    pager: str = "auto"


@dataclass(kw_only=True)
class Display:
    """`terminal`: whether a person watches."""

    terminal: bool = False
    settings: Settings = field(default_factory=Settings)
    out: TextIO | None = None  # the file of \o; None: stdout
    chart: Chart | None = None  # what the next result is drawn as, if not as a table

    def tell(self, rows: int | None, seconds: float) -> None:
        """Print `3 rows, 1.2 s` below a result on a terminal."""
        if not self.terminal:
            return
        parts = [] if rows is None else [f"{rows:,} row{'s' if rows != 1 else ''}"]
        parts += [f"{seconds:.1f} s"] if self.settings.timing and (rows is not None or seconds >= 0.1) else []
        if parts:
            self.note(", ".join(parts))

    def note(self, text: str) -> None:
        """Print a line about a result for a person; it is not part of the result."""
        if not self.terminal:
            return
        print(f"{DIM}{text}{PLAIN}" if self.colours else text, file=sys.stderr)

    def pager_for(self, text: str) -> list[str]:
        """The command of the pager that shows this text; empty: it is printed."""
        to_person = self.on_screen and self.out is None and self.chart is None
        wanted = self.settings.pager == "on" or (self.settings.pager == "auto" and is_long(text))
        return pager() if text and to_person and wanted else []

    @property
    def on_screen(self) -> bool:
        return self.terminal and sys.stdout.isatty()

    @property
    def colours(self) -> bool:
        return self.on_screen and not os.environ.get("NO_COLOR")

    @property
    def screen(self) -> Screen:
        """How rows are drawn now. Output to a file is not cut."""
        to_person = self.terminal and self.out is None
        width = shutil.get_terminal_size().columns if to_person else 0
        return Screen(width, self.settings.expanded, self.settings.null, self.colours and to_person)

    def redirect(self, path: str | None) -> None:
        """Write results to a file; None: to stdout."""
        if self.out is not None:
            self.out.close()
            self.out = None
        if path is not None:
            try:
                self.out = open(path, "w", encoding="utf-8", newline="")  # noqa: SIM115  (until the next \o)
            except OSError as error:
                raise DataError(f"{path} cannot be written: {error.strerror}") from error
