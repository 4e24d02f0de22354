"""Patterns of times as Java has them, if they are of numbers only: which number stands where."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

PIECES = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']")
NUMBERS = "yMdHmsS"


@dataclass(frozen=True)
class Piece:
    """Letters of a pattern, or text that stands for itself."""

    text: str
    is_field: bool

    @property
    def letter(self) -> str:
        return self.text[0] if self.is_field else ""


@cache
def pieces(pattern: str) -> tuple[Piece, ...] | None:
    """Those of a pattern that has each number once, and nothing but numbers; None of another one."""
    found: list[Piece] = []
    for match in PIECES.finditer(pattern):
        text = match[0]
        if text.startswith("'"):
            found.append(Piece("'" if text == "''" else text[1:-1].replace("''", "'"), is_field=False))
        elif match[1] is None:
            found.append(Piece(text, is_field=False))
        elif match[1] in NUMBERS and match[1] not in {piece.letter for piece in found}:
            found.append(Piece(text, is_field=True))
        else:
            return None
    is_number = not any(piece.letter == "M" and len(piece.text) > 2 for piece in found)
    return tuple(found) if is_number and any(piece.is_field for piece in found) else None
