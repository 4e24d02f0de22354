"""A word of a script, with the comments around it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Comment:
    """A comment on lines of its own. `apart`: after an empty line."""

    text: str
    apart: bool


@dataclass
class Word:
    """A word, an operator, a hint, or a comment within a line.

    `glued`: no blank precedes it. `apart`: an empty line does. `before` are the comments on lines above it, `after`
    those that end its line.
    """

    text: str
    kind: str  # of the token, HINT, COMMENT, UNARY (a sign), or LEFT and RIGHT (brackets and those of types)
    start: int
    glued: bool = False
    apart: bool = False
    before: list[Comment] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    spaced: bool = False  # a parenthesis after a name that is not a function

    @property
    def upper(self) -> str:
        """A name in capitals, other words as they are."""
        return self.text.upper() if self.kind == "NAME" else self.text
