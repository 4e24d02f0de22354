"""Errors that a user can cause, as data: a message, a place in the SQL, and a hint that can be typed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from unicodedata import combining, east_asian_width

from tvfsql.secrets import stars, without_logins


@dataclass(frozen=True)
class Span:
    """A half-open range of characters in the SQL text."""

    start: int
    end: int


def spanning(spans: Sequence[Span]) -> Span | None:
    """The span from the start of the first to the end of the last; None if there are none."""
    return Span(min(each.start for each in spans), max(each.end for each in spans)) if spans else None


@dataclass(frozen=True)
class OtherMode:
    """A hint to what works in the other `mode`. `before` and `after` name what helps in this one, and `detail` follows
    the mode. `link` precedes it if it is named last.
    """

    mode: str
    before: str = ""
    after: str = ""
    detail: str = ""
    link: str = ", or "

    @property
    def in_this_mode(self) -> str:
        """The hint without the other mode."""
        return ", or ".join(filter(None, (self.before, self.after)))

    def written(self, choice: str) -> str:
        """The hint, in which `choice` is how to choose the mode."""
        link = ", " if self.after else self.link
        return (
            (f"{self.before}{link}" if self.before else "")
            + f"{choice}{self.detail}"
            + (f", or {self.after}" if self.after else "")
        )

    def __str__(self) -> str:
        return self.written(f"--mode {self.mode}")


IN_BATCH = OtherMode("batch")
IN_STREAMS = OtherMode("streaming")
Hint = str | OtherMode


class TvfSqlError(Exception):
    """An error in the SQL, its options or its data. `str()` draws the caret if the source is known.

    `span` is in characters of `source`; `advice` is what the user can type or do next, and `hint` its text.
    """

    def __init__(self, message: str, *, span: Span | None = None, hint: Hint | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.advice = hint
        self.source: str | None = None
        self.file: str | None = None

    @property
    def hint(self) -> str | None:
        return None if self.advice is None else str(self.advice)

    def within(self, source: str, file: str | None = None) -> TvfSqlError:
        """Return the same error with the text that its span refers to. The innermost text wins."""
        if self.source is None:
            self.source, self.file = source, file
        return self

    def __str__(self) -> str:
        return render(self)


class SqlSyntaxError(TvfSqlError):
    """The text is not valid SQL."""


class BindError(TvfSqlError):
    """The text names something that does not exist, or combines things that do not go together."""


class UnsupportedError(TvfSqlError):
    """The SQL is valid, but tvfsql does not support it, or not in this mode."""


class OptionError(TvfSqlError):
    """An option is unknown, or its value is invalid."""


class DataError(TvfSqlError):
    """The SQL is valid, but the data are not: a missing file, an unreadable row, an overflow."""


def render(error: TvfSqlError) -> str:
    """Format the error for a terminal: message, place with a caret, hint."""
    lines = [f"error: {_printable(error.message)}"]
    if error.span is not None and error.source is not None:
        lines += _excerpt(error.source, error.span, error.file)
    if error.hint:
        lines.append(f"hint: {_printable(error.hint)}")
    return "\n".join(lines)


def _printable(text: str) -> str:
    """The text with terminal control characters escaped, and without passwords."""
    shown = without_logins(text)
    return "".join(char if char.isprintable() or char == "\n" else repr(char)[1:-1] for char in shown)


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name closest to `word`; None if none has a similarity of at least `cutoff` (1: the same word)."""
    by_lower = {name.lower(): name for name in sorted(known, reverse=True)}
    close = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=cutoff)
    return by_lower[close[0]] if close else None


def did_you_mean(
    word: str, known: Iterable[str], *, otherwise: str = "known: ", rare: Iterable[str] = ()
) -> str | None:
    """A hint: the nearest name, or else the first few known names. `rare` names are only suggested if they are
    close.
    """
    names = sorted({*known})
    if close := nearest(word, [*names, *rare]):
        return f"did you mean {close}?"
    if not names:
        return None
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return otherwise + shown


def wrong_number(name: str, taken: str, given: int, sample: int, span: Span | None = None) -> BindError:
    """The error for a call with a number of arguments that its function does not take. `taken` says which numbers it
    takes, as `from_to` does; the hint is a call with `sample` arguments.
    """
    arguments = "x" if sample == 1 else ", ".join(f"x{i + 1}" for i in range(sample))
    problem = f"{name} takes {taken} argument{'' if taken == '1' else 's'}, not {given}"
    return BindError(problem, span=span, hint=f"{name}({arguments})")


def from_to(least: int, most: int | None) -> str:
    """A range of numbers in words, such as `2`, `2 or 3`, `2 to 4`; without `most`, `2 or more`."""
    if most is None:
        return f"{least} or more"
    return f"{least}" if least == most else f"{least} {'or' if most == least + 1 else 'to'} {most}"


def screen_width(text: str) -> int:
    """The number of screen columns that a text takes: some letters take two, combining accents none."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(char) in "WF" else 0 if combining(char) else 1 for char in text)


def _excerpt(source: str, span: Span, file: str | None, width: int = 120) -> list[str]:
    start = min(span.start, len(source))
    begin = source.rfind("\n", 0, start) + 1
    end = source.find("\n", start)
    end = len(source) if end < 0 else end
    number = source.count("\n", 0, start) + 1
    column = start - begin
    text = "".join(char if char.isprintable() else " " for char in stars(source)[begin:end].rstrip("\r"))
    marked = source[start : max(start + 1, min(span.end, end))]
    cut = max(0, column - width + 40)
    shown = ("..." + text[cut + 3 :] if cut else text)[:width]
    gutter = " " * len(str(number))
    pad = screen_width(shown[: column - cut])
    marks = min(screen_width(marked), max(1, width - pad))
    return [
        f" --> {file or 'sql'}:{number}:{column + 1}",
        f"  {number} | {shown}",
        f"  {gutter} | {' ' * pad}{'^' * max(1, marks)}",
    ]
