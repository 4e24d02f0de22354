"""Text as tokens with their spans, and the window calls among them. Caches the tables of lark's grammars."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache

from lark import Lark, Token, UnexpectedCharacters
from lark.utils import TextSlice

from tvfsql.errors import Span, SqlSyntaxError, UnsupportedError
from tvfsql.folders import cache_folder, is_ours
from tvfsql.plan.tables.internal_columns import refused

WINDOW_FUNCTIONS = ("TUMBLE", "HOP", "CUMULATE", "SESSION", "WINDOWS")
FUNCTIONS = (*WINDOW_FUNCTIONS, "GAP_FILL", "FROM_CHANGELOG", "TO_CHANGELOG", "SNAPSHOT")  # what takes a table
# the older group windows in GROUP BY, and the functions about them
GROUP_WINDOWS = frozenset(
    name + of for name in ("TUMBLE", "HOP", "SESSION") for of in ("", "_START", "_END", "_ROWTIME", "_PROCTIME")
)
# What no text contains: the first characters of ASCII (bind.spark_text.holes relies on this), and surrogates: Python
# reads bytes of a command line that are not UTF-8 as such.
ODD = re.compile("[\x00-\x08\ud800-\udfff]")


def tokens_of(text: str, span: Span | None = None) -> list[Token]:
    """The words of a text, or of its part at `span`, without comments and hints. Their spans are those in `text`.
    Raises SqlSyntaxError for characters that form no word.
    """
    at = span or Span(0, len(text))
    if odd := ODD.search(text, at.start, at.end):
        raise SqlSyntaxError(f"unexpected character {odd[0]!r}", span=Span(*odd.span()))
    try:
        run = grammar("tokens").parse_interactive(piece(text, at))
        tokens = list(run.lexer_thread.lex(run.parser_state))  # type: ignore[no-untyped-call]
    except UnexpectedCharacters as error:
        place = error.pos_in_stream or 0
        what = {"'": "string", "`": "quoted name"}.get(text[place])
        message = f"this {what} is not closed" if what else f"unexpected character {text[place]!r}"
        hint = "names are quoted with backticks, strings with single quotes" if text[place] == '"' else None
        raise SqlSyntaxError(message, span=Span(place, place + 1), hint=hint) from None
    for token in tokens:
        if token.type == "QUOTED" and (why := refused(unquote(token))):
            raise UnsupportedError(why, span=place_of(token), hint="another name")
        if token == "/" and text.startswith("/*", token.start_pos):
            raise SqlSyntaxError("this comment is not closed", span=place_of(token))
    return tokens


def unquote(token: Token) -> str:
    """The text of a quoted name or string; other words are unchanged."""
    if token.type not in ("STRING", "QUOTED"):
        return str(token)
    quote = token[0]
    return token[1:-1].replace(quote * 2, quote)


def window_calls(tokens: Sequence[Token]) -> Iterator[tuple[Span, bool]]:
    """The spans of the outermost window calls, including a TABLE(...) wrapper, and whether each is used as a table.

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
    """Whether a window function's name is used as a table; `GROUP BY TUMBLE(ts, ...)` is not."""
    if tokens[i].type != "NAME" or tokens[i].upper() not in FUNCTIONS or tokens[i + 1].type != "OPEN":
        return False
    before = [token.upper() for token in tokens[max(0, i - 2) : i]]
    inside = tokens[i + 2 : closing(tokens, i + 1)]
    return (
        before[-1:] in (["FROM"], ["JOIN"])
        or (tokens[i].upper() == "SNAPSHOT" and before[-1:] == ["LATERAL"])
        or before == ["TABLE", "("]
        or any(token.upper() in ("TABLE", "DESCRIPTOR") for token in inside)
        or (tokens[i].upper() == "GAP_FILL" and any(token.upper() == "INTERVAL" for token in inside))
    )


def takes_descriptor(tokens: Sequence[Token], opening: int) -> bool:
    """Whether a DESCRIPTOR(...) is an argument of the call whose parenthesis is at `opening`."""
    depth = 0
    for i in range(opening, len(tokens) - 1):
        depth += {"OPEN": 1, "CLOSE": -1}.get(tokens[i].type, 0)
        if depth == 0:
            return False
        if depth == 1 and tokens[i].upper() == "DESCRIPTOR" and tokens[i + 1].type == "OPEN":
            return True
    return False


def closing(tokens: Sequence[Token], opening: int) -> int:
    """The index of the parenthesis that closes the one at `opening`. Raises SqlSyntaxError if there is none."""
    depth = 0
    for i in range(opening, len(tokens)):
        depth += {"OPEN": 1, "CLOSE": -1}.get(tokens[i].type, 0)
        if depth == 0:
            return i
    raise SqlSyntaxError("this parenthesis is not closed", span=place_of(tokens[opening]))


def piece(text: str, span: Span) -> TextSlice[str]:
    """The part of a text at `span`, as lark needs it to report positions in the whole text."""
    return TextSlice(text, span.start, span.end)


def place_of(token: Token) -> Span:
    """The span of a word."""
    return Span(token.start_pos or 0, token.end_pos or 0)


def place_of_all(words: Sequence[Token], default: Span | None = None) -> Span:
    """Where some words are; `default` for none."""
    if words:
        return Span(place_of(words[0]).start, place_of(words[-1]).end)
    return default or Span(0, 0)


def is_keyword(word: str) -> bool:
    """Whether statements read a word as a keyword, in some places at least."""
    return _keywords().fullmatch(word) is not None


@cache
def _keywords() -> re.Pattern[str]:
    terminals = (each for name in ("statement", "window_call") for each in grammar(name).terminals)
    return re.compile("|".join(each.pattern.to_regexp() for each in terminals if each.priority > 0))


@cache
def grammar(name: str) -> Lark:
    """The parser of a file in grammar/. That of tokens.lark is used for its lexer only."""
    return Lark.open_from_package(
        "tvfsql",
        f"{name}.lark",
        ("grammar",),
        parser="lalr",
        lexer="basic" if name == "tokens" else "contextual",
        propagate_positions=True,
        maybe_placeholders=False,
        cache=_cached(name),
    )


def _cached(name: str) -> str | bool:
    """The file in which lark keeps a grammar's tables, which are faster to read than to make. False: no such file.

    lark makes them anew after a change of the grammar or of its own version. They are pickles, which can run code, so
    they are not read from a file or folder that another user could have written.
    """
    try:
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = folder / f"{name}-{sys.version_info.major}.{sys.version_info.minor}.tables"
        return str(file) if is_ours(folder) and (not file.exists() or is_ours(file)) else False
    except OSError:
        return False
