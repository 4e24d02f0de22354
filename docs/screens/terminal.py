"""The shell as pictures: tmux runs it, rich reads the colours of its screen, and this draws them as SVG."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from html import escape
from pathlib import Path

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

COLUMNS, LINES = 96, 28
WIDE, HIGH, EDGE = 7.8, 16.5, 10.0  # of a character and of the margin, in pixels
PATIENCE = 240  # seconds until a text must be on the screen
BACK, TEXT = "#1b1e23", "#dcdfe4"
SERVER = "tvfsql-screens"


class Terminal:
    """The shell in tmux, with a home of its own."""

    def __init__(self, folder: Path, files: Path) -> None:
        environment = {
            "HOME": str(folder),
            "TERM": "xterm-256color",
            "TVFSQL_HISTORY": "",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        command = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
        command += f" {shlex.quote(sys.executable)} -m tvfsql"
        self.tmux(
            "-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(LINES), "-c", str(files), command
        )

    def tmux(self, *arguments: str) -> str:
        command = ["tmux", "-L", SERVER, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def type(self, *keys: str, literally: bool = True) -> None:
        escaped = [f"{key[:-1]}\\;" if key.endswith(";") else key for key in keys]  # it would end a command of tmux
        self.tmux("send-keys", *(["-l"] if literally else []), *escaped)
        time.sleep(0.7)

    def until(self, text: str, more: float = 1.0) -> str:
        """Wait until the text, a pattern, is on the screen. Returns the screen, with its colours."""
        end = time.monotonic() + PATIENCE
        while not re.search(text, self.tmux("capture-pane", "-p"), re.MULTILINE):
            if time.monotonic() > end:
                raise AssertionError(f"no {text!r} on\n{self.tmux('capture-pane', '-p')}")
            time.sleep(0.2)
        time.sleep(more)
        return self.screen()

    def screen(self) -> str:
        return self.tmux("capture-pane", "-e", "-p")

    def close(self) -> None:
        subprocess.run(["tmux", "-L", SERVER, "kill-server"], check=False, capture_output=True)


def picture(screens: Sequence[tuple[str, float]]) -> str:
    """An SVG of screens, each shown for some seconds; one screen does not move."""
    width, height = COLUMNS * WIDE + 2 * EDGE, LINES * HIGH + 2 * EDGE
    whole = sum(seconds for _, seconds in screens)
    rules, groups, begun = [], [], 0.0
    for number, (screen, seconds) in enumerate(screens):
        a, b = (100 * each / whole for each in (begun, begun + seconds))
        begun += seconds
        if len(screens) > 1:
            shown = f"{a:.2f}%,{b - 0.01:.2f}%{{visibility:visible}}"
            before = f"0%,{a - 0.01:.2f}%{{visibility:hidden}}" if number else ""
            after = f"{b:.2f}%,100%{{visibility:hidden}}" if number < len(screens) - 1 else ""
            rules.append(f"@keyframes k{number}{{{before}{shown}{after}}}")
            rules.append(f".f{number}{{visibility:hidden;animation:k{number} {whole:.1f}s infinite}}")
        groups.append(f'<g class="f{number}">\n{_lines(screen)}</g>\n')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img">\n<style>'
        f"text{{font:13px ui-monospace,Menlo,Consolas,monospace;white-space:pre;fill:{TEXT}}}{''.join(rules)}</style>\n"
        f'<rect width="100%" height="100%" rx="8" fill="{BACK}"/>\n{"".join(groups)}</svg>\n'
    )


def _lines(screen: str) -> str:
    console = Console(width=COLUMNS * 2, color_system="truecolor", file=open(os.devnull, "w"))  # noqa: SIM115
    drawn = []
    for number, line in enumerate(screen.splitlines()[:LINES]):
        column, top = 0, EDGE + number * HIGH
        for text, style, _ in Segment.simplify(Text.from_ansi(line).render(console)):
            if text == "\n":
                continue
            width = Segment(text).cell_length
            drawn.append(_piece(text, style or Style(), EDGE + column * WIDE, top, width * WIDE))
            column += width
    return "".join(drawn)


def _piece(text: str, style: Style, x: float, top: float, width: float) -> str:
    ink = style.color.get_truecolor(MONOKAI).hex if style.color and not style.color.is_default else TEXT
    paper = style.bgcolor.get_truecolor(MONOKAI).hex if style.bgcolor and not style.bgcolor.is_default else ""
    if style.reverse:
        ink, paper = paper or BACK, ink
    box = f'<rect x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{HIGH}" fill="{paper}"/>' if paper else ""
    if not text.strip():
        return box
    left = len(text) - len(text.lstrip())
    text = text.rstrip()
    length = f' textLength="{Segment(text.lstrip()).cell_length * WIDE:.1f}"'
    looks = ("" if ink == TEXT else f"fill:{ink};") + ("font-weight:bold" if style.bold else "")
    looks = f' style="{looks}"' if looks else ""
    looks += ' opacity=".6"' if style.dim else ""
    return f'{box}<text x="{x + left * WIDE:.1f}" y="{top + 12.5:.1f}"{length}{looks}>{escape(text.lstrip())}</text>\n'
