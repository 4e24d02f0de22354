"""Placeholders in text that sqlglot generates: its generators can only write text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

H = TypeVar("H")
MARK = "\x00"  # never in SQL text: syntax.tokens refuses it


@dataclass
class Holes(Generic[H]):
    """Collects the parts that are not text. In the text each is its number between two MARKs."""

    parts: list[H] = field(default_factory=list)

    def leave(self, part: H) -> str:
        """Keep a part and return the text that the generator writes in its place."""
        self.parts.append(part)
        return f"{MARK}{len(self.parts) - 1}{MARK}"

    def taken_apart(self, text: str) -> tuple[str | H, ...]:
        """Split the generated text into texts and parts."""
        pieces = text.split(MARK)
        return tuple(self.parts[int(piece)] if i % 2 else piece for i, piece in enumerate(pieces) if i % 2 or piece)
