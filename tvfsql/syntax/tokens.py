"""Text as words with their places, and where window calls stand among them. The tables of lark's grammars live here."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache

from lark import Lark, Token, UnexpectedCharacters

from tvfsql.errors import Span, SqlSyntaxError, UnsupportedError
from tvfsql.folders import cache_folder

FUNCTIONS = ("TUMBLE", "HOP", "CUMULATE", "SESSION")
# the older form of windows, which stand in GROUP BY, and what tells of them
GROUP_WINDOWS = frozenset(
    name + of for name in ("TUMBLE", "HOP", "SESSION") for of in ("", "_START", "_END", "_ROWTIME", "_PROCTIME")
)
UNPRINTABLE = re.compile("[\x00-\x08]")  # some of them mark holes in the texts of plans


def tokens_of(text: str) -> list[Token]:
    """The words of a text, without comments. Raises SqlSyntaxError for what is no word, UnsupportedError for hints."""
    if odd := UNPRINTABLE.search(text):
        raise SqlSyntaxError(f"unexpected character {odd[0]!r}", span=Span(*odd.span()))
    try:
        tokens = list(grammar("tokens").lex(text))
    except UnexpectedCharacters as error:
        at = error.pos_in_stream or 0
        what = {"'": "string", "`": "quoted name"}.get(text[at])
        message = f"this {what} is not closed" if what else f"unexpected character {text[at]!r}"
        hint = "names are quoted with backticks, strings with single quotes" if text[at] == '"' else None
        raise SqlSyntaxError(message, span=Span(at, at + 1), hint=hint) from None
    for token in tokens:
        if token.type == "HINT":
            raise UnsupportedError(
                "tables take no options in hints, and without them the query would mean another",
                span=place_of(token),
                hint="WITH ('option' = 'value') in CREATE TABLE",
            )
        if token == "/" and text.startswith("/*", token.start_pos):
            raise SqlSyntaxError("this comment is not closed", span=place_of(token))
    return tokens


def window_calls(tokens: Sequence[Token]) -> Iterator[tuple[Span, bool]]:
    """Where the outermost window calls stand, their TABLE(...) wrapper included, and whether as a table.

    The others are calls of group windows.
    """
    i = 0
    while i < len(tokens) - 1:
        as_table = starts_window_call(tokens, i)
        if not as_table and not _starts_group_window(tokens, i):
            i += 1
            continue
        wrapped = as_table and i >= 2 and tokens[i - 1].type == "OPEN" and tokens[i - 2].upper() == "TABLE"
        close = closing(tokens, i + 1)
        first, last = (i - 2, closing(tokens, i - 1)) if wrapped else (i, close)
        yield Span(tokens[first].start_pos or 0, tokens[last].end_pos or 0), as_table
        i = last + 1


def _starts_group_window(tokens: Sequence[Token], i: int) -> bool:
    return tokens[i].type == "NAME" and tokens[i + 1].type == "OPEN" and tokens[i].upper() in GROUP_WINDOWS


def starts_window_call(tokens: Sequence[Token], i: int) -> bool:
    """A window function's name where a table may stand; `GROUP BY TUMBLE(ts, ...)` is none."""
    if tokens[i].type != "NAME" or tokens[i].upper() not in FUNCTIONS or tokens[i + 1].type != "OPEN":
        return False
    before = [token.upper() for token in tokens[max(0, i - 2) : i]]
    inside = tokens[i + 2 : closing(tokens, i + 1)]
    return (
        before[-1:] in (["FROM"], ["JOIN"])
        or before == ["TABLE", "("]
        or any(token.upper() in ("TABLE", "DESCRIPTOR") for token in inside)
    )


def closing(tokens: Sequence[Token], opening: int) -> int:
    """The parenthesis that closes the one at `opening`. Raises SqlSyntaxError if none does."""
    depth = 0
    for i in range(opening, len(tokens)):
        depth += {"OPEN": 1, "CLOSE": -1}.get(tokens[i].type, 0)
        if depth == 0:
            return i
    raise SqlSyntaxError("this parenthesis is not closed", span=place_of(tokens[opening]))


def only(sql: str, span: Span) -> str:
    """The text with all but `span` blanked out, line breaks kept."""
    before = "".join(char if char == "\n" else " " for char in sql[: span.start])
    return before + sql[span.start : span.end]


def place_of(token: Token) -> Span:
    """Where a word stands."""
    return Span(token.start_pos or 0, token.end_pos or 0)


@cache
def grammar(name: str) -> Lark:
    """The parser of a file in grammar/."""
    return Lark.open_from_package(
        "tvfsql",
        f"{name}.lark",
        ("grammar",),
        parser="lalr",
        propagate_positions=True,
        maybe_placeholders=False,
        cache=_cached(name),
    )


def _cached(name: str) -> str | bool:
    """The file in which lark keeps a grammar's tables, which take longer to make than to read. False: none.

    lark makes them anew when the grammar, or its own version, is another.
    """
    try:
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return str(folder / f"{name}-{sys.version_info.major}.{sys.version_info.minor}.tables")
