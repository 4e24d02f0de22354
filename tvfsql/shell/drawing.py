"""Draws rows for the screen: cut to its width, or one value per line; NULL looks different from 'NULL'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvfsql.runtime.host.row_formats import cells, is_number, padded, text_width, visible

DIM, PLAIN = "\x1b[2m", "\x1b[0m"
CUT = "…"
LEAST = 12  # the minimum width of a cut column


@dataclass(frozen=True)
class Screen:
    """How rows are drawn. `width` is that of the screen, 0: unlimited. `expanded` is on, off, or auto (if rows are too
    wide).
    """

    width: int = 0
    expanded: str = "off"
    null: str = "NULL"
    colours: bool = False


def draw(columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[object]], screen: Screen) -> str:
    """The rows as a table, or vertically."""
    texts = [[None if text is None else visible(text) for text in row] for row in cells(types, rows)]
    heads = [visible(name) for name in columns]
    sizes = [max(map(text_width, each)) for each in _columns(heads, texts, screen.null)]
    wide = bool(screen.width) and sum(sizes) + 3 * len(sizes) + 1 > screen.width
    if screen.expanded == "on" or (screen.expanded == "auto" and wide):
        return _records(heads, texts, screen)
    return _table(heads, texts, sizes, [is_number(kind) for kind in types], screen, wide)


def _columns(heads: Sequence[str], texts: Sequence[Sequence[str | None]], null: str) -> list[list[str]]:
    return [[head, *(null if row[i] is None else row[i] or "" for row in texts)] for i, head in enumerate(heads)]


def _table(
    heads: Sequence[str],
    texts: Sequence[Sequence[str | None]],
    sizes: Sequence[int],
    rights: Sequence[bool],
    screen: Screen,
    wide: bool,
) -> str:
    widths = _fitting(sizes, screen.width) if wide else [*sizes]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+\n"

    def line(row: Sequence[str | None], aligned: bool) -> str:
        drawn = []
        for text, width, right in zip(row, widths, rights, strict=False):
            if text is None:
                cell = padded(_cut(screen.null, width), width, right)
                drawn.append(f"{DIM}{cell}{PLAIN}" if screen.colours else cell)
            else:
                drawn.append(padded(_cut(text, width), width, right and aligned))
        return "| " + " | ".join(drawn) + " |\n"

    body = "".join(line(row, True) for row in texts)
    left = len(heads) - len(widths)
    note = f"{left} of {len(heads)} columns do not fit: \\x shows one value per line\n" if left else ""
    return rule + line(heads, True) + rule + body + (rule if body else "") + note


def _fitting(sizes: Sequence[int], screen: int) -> list[int]:
    """The widths of as many columns as fit. The last one may be cut, and so is one wider than half the screen."""
    most = max(LEAST, screen // 2) if len(sizes) > 1 else screen
    widths: list[int] = []
    left = screen - 1
    for size in sizes:
        width = min(size, most, left - 3)
        if width < min(size, LEAST) or left <= 3:
            break
        widths.append(width)
        left -= width + 3
    return widths or [max(1, screen - 4)]


def _cut(text: str, width: int) -> str:
    if text_width(text) <= width:
        return text
    kept = ""
    for each in text:
        if text_width(kept + each) > width - 1:
            break
        kept += each
    return kept + CUT


def _records(heads: Sequence[str], texts: Sequence[Sequence[str | None]], screen: Screen) -> str:
    widest = max(map(text_width, heads), default=0)
    null = f"{DIM}{screen.null}{PLAIN}" if screen.colours else screen.null
    lines = []
    for number, row in enumerate(texts, 1):
        lines.append(f"-[ row {number} ]".ljust(widest + 2, "-"))
        for head, text in zip(heads, row, strict=True):
            lines.append(f"{padded(head, widest, False)} | {null if text is None else text}")
    return "".join(f"{line}\n" for line in lines)
