"""Text to `ast`: lark reads statements and window calls, sqlglot what lies between. The only door to lark.

Every piece is parsed inside a copy of the whole text with all else blanked out, so the positions that
lark and sqlglot report are positions in the user's text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedInput

from tvfsql.errors import Span, SqlSyntaxError, nearest
from tvfsql.folders import cache_folder
from tvfsql.syntax import ast
from tvfsql.syntax.build import StatementBuilder, WindowCallBuilder, unquote

FUNCTIONS = ("TUMBLE", "HOP", "CUMULATE", "SESSION")
USAGE = {
    "TUMBLE": "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE)",
    "HOP": "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE): the slide, then the size",
    "CUMULATE": "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY): the step, then the size",
    "SESSION": "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' MINUTE)",
}
STARTS = (
    "CREATE", "DESC", "DESCRIBE", "DROP", "EXECUTE", "EXPLAIN", "INSERT", "RESET", "SELECT", "SET", "SHOW", "VALUES",
    "WITH", "(",
)  # fmt: skip
STATEMENTS = {
    "DROP": "DROP TABLE t, or DROP VIEW v",
    "EXECUTE": "EXECUTE STATEMENT SET BEGIN INSERT INTO ...; INSERT INTO ...; END",
    "RESET": "RESET 'key', or RESET alone",
    "SET": "SET 'key' = 'value'",
    "SHOW": "SHOW TABLES, SHOW VIEWS, SHOW FUNCTIONS, SHOW CREATE TABLE t",
}
UNPRINTABLE = re.compile("[\x00-\x08]")  # some of them mark holes in the texts of plans
CLAUSES = ("FROM", "WHERE", "HAVING", "UNION", "EXCEPT", "INTERSECT")  # before these a list ends


def parse(sql: str) -> tuple[ast.Statement, ...]:
    """The statements of a script, in order. Raises SqlSyntaxError with its place in `sql`."""
    return tuple(_statement(sql, span) for span in _split(sql))


def parse_watermark(text: str) -> ast.Watermark:
    """A watermark expression by itself; its column is the first name in it. Raises SqlSyntaxError."""
    from tvfsql.syntax import sql as standard

    span = Span(0, len(text))
    names = [token for token in _tokens(text) if token.type in ("NAME", "QUOTED")]
    if not names:
        raise SqlSyntaxError("a watermark names its time column", span=span, hint="ts - INTERVAL '5' SECOND")
    return ast.Watermark(ast.Name(unquote(names[0]), _span(names[0])), standard.parse_scalar(text, span))


def _statement(sql: str, span: Span) -> ast.Statement:
    text = _only(sql, span)
    tokens = _tokens(text)
    _refuse_unbalanced(tokens)
    word = tokens[0].upper()
    close = nearest(word, STARTS)
    start = f"did you mean {close}?" if close and close != word else f"a statement starts with {', '.join(STARTS)}"
    tree = _lark("statement", text, span, hint=start if word not in STARTS else STATEMENTS.get(word))
    return StatementBuilder(sql, lambda at: _query(sql, at)).build(tree)


def _query(sql: str, span: Span) -> ast.Query:
    """The query that stands at `span`."""
    from tvfsql.syntax import sql as standard

    _refuse_idle_commas(_tokens(_only(sql, span)))
    text, windows = _put_placeholders(sql, span)
    return standard.parse_query(text, windows, span)


def _put_placeholders(sql: str, span: Span) -> tuple[str, dict[str, ast.WindowCall]]:
    text = _only(sql, span)
    windows: dict[str, ast.WindowCall] = {}
    for at in _window_calls(_tokens(text)):
        name = chr(0xE000 + len(windows))  # private use: no user's table is called that
        body = _lark("window_call", _only(sql, at), at, hint=_usage(sql, at))
        windows[name] = WindowCallBuilder(sql, lambda inner: _query(sql, inner)).build(body)
        filler = "".join(char if char == "\n" else " " for char in sql[at.start + 3 : at.end])
        text = f"{text[: at.start]}`{name}`{filler}{text[at.end :]}"
    return text, windows


def _window_calls(tokens: Sequence[Token]) -> Iterator[Span]:
    """Where the outermost window calls stand, their TABLE(...) wrapper included."""
    i = 0
    while i < len(tokens) - 1:
        if not _starts_window_call(tokens, i):
            i += 1
            continue
        wrapped = i >= 2 and tokens[i - 1].type == "OPEN" and tokens[i - 2].upper() == "TABLE"
        close = _closing(tokens, i + 1)
        first, last = (i - 2, _closing(tokens, i - 1)) if wrapped else (i, close)
        yield Span(tokens[first].start_pos or 0, tokens[last].end_pos or 0)
        i = last + 1


def _starts_window_call(tokens: Sequence[Token], i: int) -> bool:
    """A window function's name where a table may stand; `GROUP BY TUMBLE(ts, ...)` is none."""
    if tokens[i].type != "NAME" or tokens[i].upper() not in FUNCTIONS or tokens[i + 1].type != "OPEN":
        return False
    before = [token.upper() for token in tokens[max(0, i - 2) : i]]
    inside = tokens[i + 2 : _closing(tokens, i + 1)]
    return (
        before[-1:] in (["FROM"], ["JOIN"])
        or before == ["TABLE", "("]
        or any(token.upper() in ("TABLE", "DESCRIPTOR") for token in inside)
    )


def _refuse_unbalanced(tokens: Sequence[Token]) -> None:
    opened: list[Token] = []
    for token in tokens:
        if token.type == "OPEN":
            opened.append(token)
        elif token.type == "CLOSE" and not opened:
            raise SqlSyntaxError("this parenthesis was never opened", span=_span(token))
        elif token.type == "CLOSE":
            opened.pop()
    if opened:
        raise SqlSyntaxError("this parenthesis is not closed", span=_span(opened[-1]))


def _refuse_idle_commas(tokens: Sequence[Token]) -> None:
    """A comma that nothing follows, which sqlglot would pass over."""
    for token, after in pairwise(tokens):
        if token.type == "COMMA" and (after.type == "CLOSE" or after.upper() in CLAUSES):
            raise SqlSyntaxError(f"unexpected {after}", span=_span(after), hint="leave out the comma before it")
    if tokens and tokens[-1].type == "COMMA":
        raise SqlSyntaxError("nothing follows this comma", span=_span(tokens[-1]))


def _closing(tokens: Sequence[Token], opening: int) -> int:
    depth = 0
    for i in range(opening, len(tokens)):
        depth += {"OPEN": 1, "CLOSE": -1}.get(tokens[i].type, 0)
        if depth == 0:
            return i
    raise SqlSyntaxError("this parenthesis is not closed", span=_span(tokens[opening]))


def _split(sql: str) -> Iterator[Span]:
    """The statements between semicolons; a STATEMENT SET keeps those between its BEGIN and END."""
    start: Token | None = None
    last: Token | None = None
    words: list[str] = []
    for token in _tokens(sql):
        in_set = words[:4] == ["EXECUTE", "STATEMENT", "SET", "BEGIN"] and words[-1] != "END"
        if token.type == "SEMICOLON" and not in_set:
            if start is not None and last is not None:
                yield Span(start.start_pos or 0, last.end_pos or 0)
            start, words = None, []
            continue
        start, last = start or token, token
        words.append(token.upper())
    if start is not None and last is not None:
        yield Span(start.start_pos or 0, last.end_pos or 0)


def _tokens(text: str) -> list[Token]:
    if odd := UNPRINTABLE.search(text):
        raise SqlSyntaxError(f"unexpected character {odd[0]!r}", span=Span(*odd.span()))
    try:
        tokens = list(_grammar("tokens").lex(text))
    except UnexpectedCharacters as error:
        at = error.pos_in_stream or 0
        what = {"'": "string", "`": "quoted name"}.get(text[at])
        message = f"this {what} is not closed" if what else f"unexpected character {text[at]!r}"
        hint = "names are quoted with backticks, strings with single quotes" if text[at] == '"' else None
        raise SqlSyntaxError(message, span=Span(at, at + 1), hint=hint) from None
    for token in tokens:
        if token == "/" and text.startswith("/*", token.start_pos):
            raise SqlSyntaxError("this comment is not closed", span=_span(token))
    return tokens


def _lark(grammar: str, text: str, span: Span, hint: str | None) -> Tree[Token]:
    try:
        return _grammar(grammar).parse(text)
    except UnexpectedInput as error:
        token: Token | None = getattr(error, "token", None)
        end = len(text.rstrip())
        if token is not None and token.type != "$END":
            place, message = _span(token), f"unexpected {token}"
        elif token is None and isinstance(error, UnexpectedCharacters):
            at = error.pos_in_stream or 0
            place, message = Span(at, at + 1), f"unexpected character {text[at]!r}"
        else:
            place, message = Span(end, end + 1), "the statement ends too early"
        raise SqlSyntaxError(message, span=place, hint=hint) from None


def _usage(sql: str, at: Span) -> str | None:
    text = sql[at.start : at.end].upper()
    return USAGE[min(FUNCTIONS, key=lambda name: text.find(name) % (len(text) + 1))]


def _only(sql: str, span: Span) -> str:
    """The text with all but `span` blanked out, line breaks kept."""
    before = "".join(char if char == "\n" else " " for char in sql[: span.start])
    return before + sql[span.start : span.end]


def _span(token: Token) -> Span:
    return Span(token.start_pos or 0, token.end_pos or 0)


@cache
def _grammar(name: str) -> Lark:
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
