"""Parts of a text that are no text, while sqlglot writes it: its generators know text alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

H = TypeVar("H")
MARK = "\x00"  # no SQL text holds it: syntax.tokens refuses it


@dataclass
class Holes(Generic[H]):
    """Collects the parts. In the text each is its number between two MARKs."""

    parts: list[H] = field(default_factory=list)

    def leave(self, part: H) -> str:
        """What the generator writes in the place of a part."""
        self.parts.append(part)
        return f"{MARK}{len(self.parts) - 1}{MARK}"

    def taken_apart(self, text: str) -> tuple[str | H, ...]:
        """The written text, in turn with the parts."""
        pieces = text.split(MARK)
        return tuple(self.parts[int(piece)] if i % 2 else piece for i, piece in enumerate(pieces) if i % 2 or piece)
