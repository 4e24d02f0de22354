"""Splits input during typing: where a statement ends, and what is a command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tvfsql.errors import TvfSqlError

WORDS = ("quit", "exit", "help", "clear")  # commands that can be written like statements


def is_command(text: str) -> bool:
    r"""Whether a line is a command of the shell: `\dt`, `.tables`, `help;`. A number such as .5 is not."""
    line = text.strip()
    return line.startswith("\\") or (line[:1] == "." and line[1:2].isalpha()) or line.rstrip("; ").lower() in WORDS


def is_complete(text: str) -> bool:
    """Whether the text ends with a semicolon that ends a statement: no string, comment or statement set is open."""
    if ";" not in text:
        return False
    from tvfsql.syntax.parser import split_statements
    from tvfsql.syntax.tokens import tokens_of

    try:
        tokens = tokens_of(text)
    except TvfSqlError as error:
        return "is not closed" not in error.message and text.rstrip().endswith(";")
    ended, rest = split_statements(tokens)
    return bool(ended) and not rest


def mentions(text: str, name: str) -> bool:
    """Whether a name occurs in the text as a word."""
    if name not in text:
        return False
    from tvfsql.syntax.tokens import tokens_of

    try:
        return any(token.type in ("NAME", "QUOTED") and token.strip("`") == name for token in tokens_of(text))
    except TvfSqlError:
        return False


def chunks(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield commands and runs of whole statements, each with the number of lines before it."""
    held, first = "", 0
    for number, line in enumerate(lines):
        line = line if line.endswith("\n") else line + "\n"
        if _is_blank(held):
            held, first = "", number
            if is_command(line):
                yield number, line
                continue
        held += line
        if is_complete(held):
            yield first, held
            held = ""
    if not _is_blank(held):
        yield first, held


def _is_blank(text: str) -> bool:
    """Whether the text is empty, except for comments."""
    if not text.strip():
        return True
    from tvfsql.syntax.tokens import tokens_of

    try:
        return not tokens_of(text)
    except TvfSqlError:
        return False
