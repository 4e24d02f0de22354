"""The fenced blocks of the documentation, as tests take them.

What stands after ```sql says how a block is tested:

- nothing: a script that compiles in batch and on streams, after the tables of the page (TABLES);
- `batch` or `streaming`: it compiles in that mode, and the other one refuses it;
- `fragment`: it is not a complete script, such as the signature of a function;
- `stream`: the rows below it are those of a stream, a batch would give others; `late=2`: so many rows came too late.

A block that is followed by a table of rows is run, and must give these rows, in the modes in which it compiles.
A ```python block whose first line is `# name.py` is that file for the blocks below it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The script that makes the tables of a page; its folder is where paths start.
TABLES = {
    "README.md": "examples/flights.sql",
    "examples/README.md": "examples/flights.sql",
    "docs/time.md": "docs/time.sql",
}
MODES = ("batch", "streaming")


@dataclass(frozen=True)
class Block:
    """One fenced block: its first line, the words after its fence, its text, and the rows shown below it."""

    page: str
    line: int
    words: tuple[str, ...]
    text: str
    rows: str = ""
    files: dict[str, str] = field(default_factory=dict, hash=False)

    @property
    def tables(self) -> Path:
        return ROOT / TABLES.get(self.page, "docs/tables.sql")

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes in which it compiles."""
        if "fragment" in self.words:
            return ()
        return tuple(mode for mode in MODES if mode in self.words) or MODES

    @property
    def shown(self) -> tuple[str, ...]:
        """The modes in which it returns the rows below it."""
        return ("streaming",) if "stream" in self.words else self.modes

    @property
    def late(self) -> int:
        """How many rows of a stream are late."""
        return next((int(word.removeprefix("late=")) for word in self.words if word.startswith("late=")), 0)

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[str]:
    """The pages that are written by hand."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")]
    return sorted(page.relative_to(ROOT).as_posix() for page in found if page.name != "rules.md")


def blocks(language: str) -> list[Block]:
    """All blocks in a language; "": blocks without a language."""
    return [block for page in pages() for block in _blocks(page) if (block.words or ("",))[0] == language]


def commands(block: Block) -> Iterator[list[str]]:
    """The commands of a block, split into words; quotes can span lines."""
    begun = ""
    for line in block.text.splitlines(keepends=True):
        if not begun and not re.match(r"(tvfsql|make) ", line):
            continue
        begun += line
        try:
            yield shlex.split(begun, comments=True)
            begun = ""
        except ValueError:  # a quote is open
            continue


def _blocks(page: str) -> Iterator[Block]:
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    files: dict[str, str] = {}
    found: list[tuple[int, int, tuple[str, ...], str]] = []
    begun: int | None = None
    for i, line in enumerate(lines):
        if line.startswith("```"):
            if begun is None:
                begun = i
            else:
                words = tuple(lines[begun].removeprefix("```").split())
                found.append((begun, i, words, "\n".join(lines[begun + 1 : i]) + "\n"))
                begun = None
    assert begun is None, f"{page}:{(begun or 0) + 1}: a block without an end"
    for at, (first, last, words, text) in enumerate(found):
        head = text.partition("\n")[0]
        if words[:1] == ("python",) and head.startswith("# ") and head.endswith(".py"):
            files = {**files, head.removeprefix("# "): text}
        if words[:1] == ("csv",) and len(words) > 1:
            files = {**files, words[1]: text}
        below = found[at + 1] if at + 1 < len(found) else None
        follows = below is not None and not below[2] and not "".join(lines[last + 1 : below[0]]).strip()
        rows = below[3] if follows and below is not None and below[3].startswith("+-") else ""
        yield Block(page, first + 1, words, text, rows, files)
