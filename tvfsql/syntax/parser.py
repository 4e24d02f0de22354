"""Parses text to `statements`: lark parses statements and window calls, sqlglot everything in between. Only this module
and `tokens` use lark.

Every piece is parsed as a part of the whole text, so the positions that lark and sqlglot report are positions in the
user's text. The cost of a statement does not depend on the statements before it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise

from lark import Token, Tree, UnexpectedCharacters, UnexpectedInput

from tvfsql.errors import BindError, Span, SqlSyntaxError, UnsupportedError, nearest
from tvfsql.syntax import ast, statements
from tvfsql.syntax.builders.statements import StatementBuilder
from tvfsql.syntax.builders.window_calls import WindowCallBuilder
from tvfsql.syntax.checks import refuse_misread
from tvfsql.syntax.checks.dialects import misplaced, refuse_other_dialects
from tvfsql.syntax.checks.near_misses import explained, refuse_no_columns
from tvfsql.syntax.databases import Databases, known_databases
from tvfsql.syntax.hints.comments import with_hints, without_hints
from tvfsql.syntax.queries.emit import emit_of, refuse_elsewhere
from tvfsql.syntax.tokens import (
    FUNCTIONS,
    WINDOW_FUNCTIONS,
    grammar,
    piece,
    place_of,
    takes_descriptor,
    tokens_of,
    unquote,
    window_calls,
)

USAGE = {
    "TUMBLE": "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE)",
    "HOP": "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE): the slide, then the size",
    "CUMULATE": "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY): the step, then the size",
    "SESSION": "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' MINUTE)",
    "WINDOWS": "WINDOWS(TABLE t, DESCRIPTOR(ts), TUMBLE(INTERVAL '1' MINUTE) AS minute, "
    "HOP(INTERVAL '1' MINUTE, INTERVAL '1' HOUR) AS hour)",
    "GAP_FILL": "GAP_FILL(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' MINUTE, LOCF(x), "
    "MAX_GAP => INTERVAL '1' HOUR)",
    "FROM_CHANGELOG": "FROM_CHANGELOG(input => TABLE t PARTITION BY id, op => DESCRIPTOR(op), "
    "op_mapping => MAP['c, r', 'INSERT', 'u', 'UPDATE_AFTER', 'd', 'DELETE'])",
    "TO_CHANGELOG": "TO_CHANGELOG(input => TABLE t, op => DESCRIPTOR(op), "
    "op_mapping => MAP['INSERT, UPDATE_AFTER', 'u', 'DELETE', 'd'])",
    "SNAPSHOT": "JOIN LATERAL SNAPSHOT(input => TABLE t) AS t ON o.k = t.k",
}
OTHERS = [each for each in FUNCTIONS if each not in WINDOW_FUNCTIONS]
STARTS = (
    "ALTER", "BEGIN", "CALL", "CREATE", "DECLARE", "DESC", "DESCRIBE", "DROP", "EXECUTE", "EXPLAIN", "INSERT", "RESET",
    "SELECT", "SET", "SHOW", "SUMMARIZE", "TABLE", "USE", "VALUES", "WITH", "(",
)  # fmt: skip
STATEMENTS = {
    "ALTER": "ALTER TABLE t SET ('key' = 'value'), ADD WATERMARK FOR ts AS ts, "
    "ADD ..., MODIFY ..., RENAME ... or DROP ...",
    "BEGIN": "BEGIN STATEMENT SET; INSERT INTO ...; INSERT INTO ...; END",
    "CALL": "CALL advance_watermark(TIMESTAMP '2020-04-15 08:20:00')",
    "DECLARE": "DECLARE day DATE DEFAULT DATE '2026-01-01'",
    "DROP": "DROP TABLE t, DROP VIEW v, or DROP FUNCTION f",
    "EXECUTE": "EXECUTE STATEMENT SET BEGIN INSERT INTO ...; INSERT INTO ...; END",
    "INSERT": "INSERT INTO t SELECT ...",
    "RESET": "RESET 'key', or RESET alone",
    "SET": "SET 'key' = 'value'",
    "USE": "USE d, USE c.d, USE CATALOG c",
    "SHOW": "SHOW TABLES, SHOW VIEWS, SHOW [USER] FUNCTIONS, SHOW CREATE TABLE t",
}
# Statements that Flink has and tvfsql has not: their first words, and what to do instead.
REFUSED = {
    "ADD": "CREATE FUNCTION f AS 'module.f' LANGUAGE PYTHON",
    "ANALYZE": None,
    "COMPILE": "tvfsql compile writes the program",
    "DELETE": None,
    "LOAD": None,
    "REMOVE": None,
    "STOP": "Ctrl-C stops streams",
    "TRUNCATE": "INSERT OVERWRITE t SELECT ... WHERE FALSE, if t is not PARTITIONED BY",
    "UNLOAD": None,
    "UPDATE": None,
}
REFUSED_OBJECTS = {  # of CREATE, ALTER and DROP
    "MATERIALIZED": "CREATE TABLE, and INSERT INTO it",
    "MODEL": None,
    "CONNECTION": None,
}
# the arguments of group windows after the time column
GROUP_ARGUMENTS = {"TUMBLE": ("size",), "HOP": ("slide", "size"), "SESSION": ("gap",)}


def parse(sql: str, databases: Databases | None = None) -> tuple[statements.Statement, ...]:
    """Return the statements of a script, in order. Each sees `databases` as those before it leave them; `databases`
    itself does not change. Raises SqlSyntaxError with its place in `sql`.
    """
    text = without_hints(sql)
    with known_databases(deepcopy(databases)):
        spans = [*statement_spans(text)]
        starts = [
            0,
            *(span.start for span in spans[1:]),
            len(sql),
        ]  # up to the next statement, because a hint may end a statement
        return tuple(
            with_hints(_statement(text, span), sql, Span(*around))
            for span, around in zip(spans, pairwise(starts), strict=False)
        )


def parse_watermark(text: str) -> statements.Watermark:
    """Parse a watermark expression on its own; its column is the first name in it. Raises SqlSyntaxError."""
    from tvfsql.syntax.queries.reader import parse_scalar

    span = Span(0, len(text))
    names = [token for token in tokens_of(text) if token.type in ("NAME", "QUOTED")]
    if not names:
        raise SqlSyntaxError("the watermark needs a time column", span=span, hint="ts - INTERVAL '5' SECOND")
    return statements.Watermark(ast.Name(unquote(names[0]), place_of(names[0])), parse_scalar(text, span))


def _statement(sql: str, span: Span) -> statements.Statement:
    tokens = tokens_of(sql, span)
    _refuse_unbalanced(tokens)
    refuse_other_dialects(tokens)
    refuse_elsewhere(tokens)
    word = tokens[0].upper()
    if word in REFUSED and len(tokens) > 1:
        named = f"{word} {tokens[1].upper()}" if tokens[1].type == "NAME" and word not in ("DELETE", "UPDATE") else word
        raise UnsupportedError(f"{named} is not supported", span=place_of(tokens[0]), hint=REFUSED[word])
    _refuse_objects(tokens)
    if word == "FROM":
        hint = f"SELECT * {sql[span.start : span.end].strip()}"
        raise SqlSyntaxError("a query starts with SELECT", span=place_of(tokens[0]), hint=hint)
    close = nearest(word, STARTS)
    start = (
        f"did you mean {close}?" if close and close != word else f"statements start with {', '.join(STARTS[:-1])} or ("
    )
    tree = _lark("statement", sql, span, hint=start if word not in STARTS else STATEMENTS.get(word))
    return StatementBuilder(sql, lambda at: _query(sql, at)).build(tree)


def _refuse_objects(tokens: list[Token]) -> None:
    """Refuse what Flink makes besides tables, views and functions, and functions from a jar."""
    words = [token.upper() for token in tokens]
    if words[0] not in ("CREATE", "ALTER", "DROP"):
        return
    if words[1:2] and words[1] in REFUSED_OBJECTS:
        named = " ".join(words[: 3 if words[1] == "MATERIALIZED" else 2])
        raise UnsupportedError(f"{named} is not supported", span=place_of(tokens[1]), hint=REFUSED_OBJECTS[words[1]])
    kind = next((word for word in words[1:] if word not in ("TEMPORARY", "SYSTEM")), None)
    if kind == "FUNCTION" and "USING" in words:
        at = tokens[words.index("USING")]
        hint = "AS 'module.f' LANGUAGE PYTHON"
        raise UnsupportedError("USING of a function is not supported", span=place_of(at), hint=hint)


def _query(sql: str, span: Span) -> ast.Query:
    """The query at `span`."""
    from tvfsql.syntax.queries.match_recognize import match_clauses, read_match
    from tvfsql.syntax.queries.reader import parse_query

    whole, tokens = span, tokens_of(sql, span)
    if emit := emit_of(tokens):
        tokens = [token for token in tokens if place_of(token).start < emit.span.start]
        span = Span(span.start, place_of(tokens[-1]).end)
    clauses = [*match_clauses(tokens)]
    tokens = [token for token in tokens if not any(_within(place_of(token), found.whole) for found in clauses)]
    calls = [at for at, _ in window_calls(tokens)]
    clauses = [found for found in clauses if not any(_within(found.whole, at) for at in calls)]
    refuse_misread(tokens)
    refuse_no_columns(tokens)
    matches = {chr(0xF000 + i): (read_match(sql, found), found.alias) for i, found in enumerate(clauses)}
    places = [found.whole for found in clauses]
    text, windows, groups = _put_placeholders(
        _without_lateral(sql, tokens), span, tokens, dict(zip(matches, places, strict=True))
    )
    try:
        return replace(parse_query(text, windows, groups, span, matches), span=whole, emit=emit)
    except SqlSyntaxError as error:
        better = explained(error, tokens)
        if better is error:
            raise
        raise better from error


def _within(at: Span, span: Span) -> bool:
    return span.start <= at.start and at.end <= span.end


def _without_lateral(sql: str, tokens: Sequence[Token]) -> str:
    """The text without LATERAL before functions that stand for a table, at the same places: SNAPSHOT(...) alone, and
    UNNEST(f(x)) for LATERAL TABLE(f(x)), since a table function returns an array.
    """
    for lateral, after in pairwise(tokens):
        if lateral.upper() == "LATERAL" and after.upper() in ("TABLE", "SNAPSHOT"):
            word = "UNNEST" if after.upper() == "TABLE" else ""
            start, end = place_of(lateral).start, place_of(after).end if word else place_of(after).start
            sql = sql[:start] + word + _blanks(sql[start + len(word) : end]) + sql[end:]
    return sql


def _blanks(text: str) -> str:
    """Blanks with the line ends of `text`, so that what follows keeps its place."""
    return "".join(char if char == "\n" else " " for char in text)


def _put_placeholders(
    sql: str, span: Span, tokens: Sequence[Token], matches: Mapping[str, Span]
) -> tuple[str, dict[str, ast.WindowCall], dict[str, ast.WindowCall]]:
    """The text at `span` with placeholders for calls, then the calls of window functions and those of group windows by
    placeholder. Each of `matches` is an alias that takes the place of a MATCH_RECOGNIZE.
    """
    for name, at in matches.items():
        sql = f"{sql[: at.start]}`{name}`{_blanks(sql[at.start + 3 : at.end])}{sql[at.end :]}"
    parts: list[str] = []
    end = span.start
    windows: dict[str, ast.WindowCall] = {}
    groups: dict[str, ast.WindowCall] = {}
    _refuse_unknown_windows(tokens)
    starts = [place_of(token).start for token in tokens]
    for at, stands_for_table in window_calls(tokens):
        _refuse_around(tokens, bisect_left(starts, at.start), bisect_left(starts, at.end))
        # a private-use character: no table or column of a user has this name
        name = chr(0xE000 + len(windows) + len(groups))
        body = _lark("window_call", sql, at, hint=_usage(sql, at))
        call = WindowCallBuilder(
            sql, lambda inner: _query(sql, inner), lambda inner: _lark("window_call", sql, inner, None)
        ).build(body)
        if stands_for_table:
            windows[name] = call
        else:
            groups[name] = _with_descriptor(call, sql)
        parts += [sql[end : at.start], f"`{name}`{_blanks(sql[at.start + 3 : at.end])}"]
        end = at.end
    return "".join([*parts, sql[end : span.end]]), windows, groups


def _refuse_around(tokens: Sequence[Token], first: int, end: int) -> None:
    """Raise SqlSyntaxError for a dot before the call of these tokens, and for a dot or a parenthesis after it."""
    before, after = tokens[max(first - 1, 0) : first], tokens[end : end + 1]
    refused = [token for token in before if token.type == "DOT"]
    refused += [token for token in after if token.type in ("DOT", "OPEN")]
    if refused:
        raise SqlSyntaxError(f"unexpected {refused[0]}", span=place_of(refused[0]))


def _with_descriptor(call: ast.WindowCall, sql: str) -> ast.WindowCall:
    """The call of a group window with its time column as in a DESCRIPTOR; its table is in FROM."""
    first = call.arguments[0] if call.arguments else None
    tokens = tokens_of(sql, first.span) if first and isinstance(first.value, ast.Other) else []
    kinds = ["NAME" if token.type == "QUOTED" else token.type for token in tokens]
    if len(kinds) % 2 == 0 or kinds != ["DOT" if i % 2 else "NAME" for i in range(len(kinds))]:
        raise SqlSyntaxError(
            f"the first argument of {call.function} must be the time column",
            span=first.span if first else call.span,
            hint=_group_usage(call.function),
        )
    assert first is not None
    needed = GROUP_ARGUMENTS[call.function.partition("_")[0]]
    if "_" not in call.function and len(call.arguments) <= len(needed):
        raise SqlSyntaxError(
            f"{call.function} needs a {needed[len(call.arguments) - 1]}",
            span=call.span,
            hint=_group_usage(call.function),
        )
    column = ast.Name(unquote(tokens[-1]), place_of(tokens[-1]))
    table = unquote(tokens[-3]) if len(tokens) > 2 else None
    time = ast.Argument(None, ast.Descriptor((column,), first.span, table), first.span)
    return replace(call, arguments=(time, *call.arguments[1:]))


def _group_usage(function: str) -> str:
    """A call of a group window, or of a function that belongs to it."""
    lengths = (f"INTERVAL '{5 * i}' MINUTE" for i in range(1, len(GROUP_ARGUMENTS[function.partition("_")[0]]) + 1))
    return f"{function}({', '.join(['ts', *lengths])})"


def _refuse_unknown_windows(tokens: Sequence[Token]) -> None:
    """Refuse a function with a DESCRIPTOR that is not a window function."""
    for i, (name, after) in enumerate(pairwise(tokens)):
        called = name.type == "NAME" and after.type == "OPEN" and name.upper() not in (*FUNCTIONS, "TABLE")
        if called and takes_descriptor(tokens, i + 1):
            close = nearest(name.upper(), FUNCTIONS)
            known = f"window functions: {', '.join(WINDOW_FUNCTIONS)}; others: {', '.join(OTHERS)}"
            hint = f"did you mean {close}?" if close else known
            raise BindError(f"there is no window function {name}", span=place_of(name), hint=hint)


def _refuse_unbalanced(tokens: Sequence[Token]) -> None:
    opened: list[Token] = []
    for token in tokens:
        if token.type == "OPEN":
            opened.append(token)
        elif token.type == "CLOSE" and not opened:
            raise SqlSyntaxError("this parenthesis was never opened", span=place_of(token))
        elif token.type == "CLOSE":
            opened.pop()
    if opened:
        raise SqlSyntaxError("this parenthesis is not closed", span=place_of(opened[-1]))


def statement_spans(sql: str) -> Iterator[Span]:
    """Yield the statements between semicolons. A STATEMENT SET includes those between its BEGIN and END."""
    ended, rest = split_statements(tokens_of(sql))
    for tokens in (*ended, rest):
        if tokens:
            yield Span(place_of(tokens[0]).start, place_of(tokens[-1]).end)


def split_statements(tokens: Sequence[Token]) -> tuple[list[list[Token]], list[Token]]:
    """The statements that a semicolon ends, and the words after the last of these semicolons."""
    ended: list[list[Token]] = []
    held: list[Token] = []
    for token in tokens:
        if token.type == "SEMICOLON" and not _in_set(held):
            ended.append(held)
            held = []
        else:
            held.append(token)
    return ended, held


def _in_set(tokens: Sequence[Token]) -> bool:
    """Whether these words begin a STATEMENT SET, or the EXPLAIN of one, and do not end it."""
    words = [token.upper() for token in tokens[:16]]
    if words[:1] not in (["BEGIN"], ["EXECUTE"], ["EXPLAIN"]) or "STATEMENT" not in words:
        return False
    at = words.index("STATEMENT")
    begins = words[at + 1 : at + 2] == ["SET"] and "BEGIN" in (words[at - 1], *words[at + 2 : at + 3])
    before, last = tokens[-2].upper(), tokens[-1].upper()
    return begins and not (last == "END" and before in (";", "BEGIN"))  # END of CASE follows neither


def _lark(name: str, sql: str, span: Span, hint: str | None) -> Tree[Token]:
    """Parse the text at `span` with a grammar."""
    try:
        return grammar(name).parse(piece(sql, span))
    except UnexpectedInput as error:
        token: Token | None = getattr(error, "token", None)
        if token is not None and token.type != "$END":
            tokens = tokens_of(sql, span)
            if name == "window_call" and (why := misplaced(tokens, _index(tokens, token))):
                raise SqlSyntaxError(why[1], span=why[0], hint=why[2]) from None
            token, better = _cause(token, tokens, error)
            place, message, hint = place_of(token), f"unexpected {token}", hint or better
        elif token is None and isinstance(error, UnexpectedCharacters):
            at = error.pos_in_stream or 0
            place, message = Span(at, at + 1), f"unexpected character {sql[at]!r}"
        else:
            end = span.start + len(sql[span.start : span.end].rstrip())
            place, message = Span(end, end + 1), "the statement ends too early"
        raise SqlSyntaxError(message, span=place, hint=hint) from None


def _index(tokens: Sequence[Token], token: Token) -> int:
    return next(i for i, each in enumerate(tokens) if place_of(each).end > place_of(token).start)


def _cause(token: Token, tokens: Sequence[Token], error: UnexpectedInput) -> tuple[Token, str | None]:
    """The token to blame for an error at `token`, and a hint, for texts without quotes and commas before nothing."""
    accepts = getattr(error, "accepts", None) or set()
    before = [each for each in tokens if place_of(each).end <= place_of(token).start][-1:]
    if token.type in ("NAME", "NUMBER") and "STRING" in accepts:
        return token, f"in quotes: '{token}'"
    if before and before[0].type == "NAME" and accepts == {"OPERATOR"}:  # a name where only U&'...' may stand
        return before[0], f"in quotes: '{before[0]}'"
    if before and before[0].type == "COMMA" and token.type == "CLOSE":
        return token, "leave out the comma before it"
    return token, None


def _usage(sql: str, at: Span) -> str | None:
    text = sql[at.start : at.end].upper()
    return USAGE[min(FUNCTIONS, key=lambda name: text.find(name) % (len(text) + 1))]
