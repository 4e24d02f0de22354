"""Lines under way: words, indentation, and comments at the ends of lines, one below the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tvfsql.errors import screen_width
from tvfsql.syntax.layout.groups import Node, blank, flat, words_of
from tvfsql.syntax.layout.word import Comment, Word

WIDTH = 100  # columns of a line
STEP = 4  # columns of indentation


@dataclass
class Line:
    """A line with its indentation; `comments` end it."""

    indent: int
    text: str = ""
    comments: list[str] = field(default_factory=list)
    verbatim: bool = False  # lines of a long comment


class Page:
    """Writes words one after another. `indent` is that of the line under way."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.line = Line(0)
        self.last: Word | None = None  # on the line under way

    @property
    def indent(self) -> int:
        return self.line.indent

    @property
    def column(self) -> int:
        """Where the next word would begin."""
        return self.line.indent + screen_width(self.line.text.rpartition("\n")[2]) + bool(self.line.text)

    def here(self) -> int:
        """The number of whole lines."""
        return len(self.lines)

    def put(self, nodes: Iterable[Node], pad: int = 0) -> None:
        """Write nodes on one line, as far as the comments among them allow. `pad`: more blanks after them."""
        for word in words_of(nodes):
            self._put(word)
        self.line.text += " " * pad

    def _put(self, word: Word) -> None:
        for comment in word.before:
            self._comment(comment)
        if self.line.comments and word.kind not in ("COMMA", "SEMICOLON"):
            self.end_line(self.indent + STEP)
        if self.last is not None:
            self.line.text += blank(self.last, word)
        self.line.text += word.text
        self.line.comments += word.after
        self.last = word

    def _comment(self, comment: Comment) -> None:
        """A comment on a line of its own, above what follows."""
        indent = self.indent
        self.end_line(indent)
        self.lines.append(Line(indent, comment.text, verbatim=True))

    def head(self, word: Word) -> None:
        """Write the comments above a statement, with the empty lines among them and below them."""
        for i, comment in enumerate(word.before):
            if i and comment.apart:
                self.lines.append(Line(0))
            self._comment(comment)
        if word.before and word.apart:
            self.lines.append(Line(0))
        word.before = []

    def end_line(self, indent: int) -> None:
        """Begin a new line, unless the line is empty."""
        if self.line.text:
            if self.last is not None and self.last.kind == "COMMENT" and not self.line.comments:
                kept = self.line.text.removesuffix(self.last.text).rstrip()
                if kept:
                    self.line.text, self.line.comments = kept, [self.last.text]
            self.lines.append(self.line)
        self.line = Line(indent)
        self.last = None

    def fits(self, nodes: Iterable[Node], limit: int = WIDTH) -> bool:
        """Whether nodes fit on the line under way, without the comments at their end."""
        text = flat(nodes)
        return text is not None and self.column + screen_width(text.partition("\n")[0]) <= limit

    def blank_line(self, before: int) -> None:
        """Put an empty line before a line, unless it is the first."""
        if before:
            self.lines.insert(before, Line(0))

    def last_comments(self, comments: Iterable[Comment]) -> None:
        """Write the comments below the last statement."""
        for i, comment in enumerate(comments):
            if self.lines and (comment.apart or not i):
                self.lines.append(Line(0))
            self.lines.append(Line(0, comment.text, verbatim=True))

    def text(self, line_end: str) -> str:
        """All lines, each with its end."""
        return "".join(line + line_end for line in self._aligned())

    def _aligned(self) -> Iterator[str]:
        """The lines, with comments at their ends in one column where neighbours have the same indentation."""
        run: list[Line] = []
        for line in [*self.lines, None]:
            if run and (line is None or line.indent != run[0].indent or line.verbatim or not line.text):
                width = max((screen_width(each.text) for each in run if each.comments), default=0)
                for each in run:
                    yield _drawn(each, width)
                run = []
            if line is not None and (line.verbatim or not line.text):
                yield _drawn(line, 0)
            elif line is not None:
                run.append(line)


def _drawn(line: Line, width: int) -> str:
    text = " " * line.indent + line.text if line.text else ""
    if not line.comments:
        return text
    return " ".join([text + " " * (width - screen_width(line.text) + 1), *line.comments])
