"""Java's patterns for times, if they consist of numbers only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

PIECES = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']")
NUMBERS = "yMdHmsS"


@dataclass(frozen=True)
class Piece:
    """A field of a pattern (equal letters), or literal text."""

    text: str
    is_field: bool

    @property
    def letter(self) -> str:
        return self.text[0] if self.is_field else ""


@cache
def pieces(pattern: str) -> tuple[Piece, ...] | None:
    """The pieces of a pattern. None if it has a field twice, or a field that is not a number, or no field."""
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
