"""Converts group windows in the text of a script to window functions, and leaves all other text unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tvfsql.errors import Span, TvfSqlError, UnsupportedError
from tvfsql.syntax import ast, statements
from tvfsql.syntax.parameters import Filled, only_read
from tvfsql.syntax.tokens import closing, place_of, starts_window_call, tokens_of

if TYPE_CHECKING:
    from lark import Token

Edit = tuple[int, int, str]  # start, end, and the new text between them


def rewrite(sql: str, file: str | None = None) -> str:
    """Return the script with each GROUP BY TUMBLE, HOP or SESSION as a window function; all else is unchanged, byte for
    byte.

    Raises SqlSyntaxError for text that does not parse, and UnsupportedError for a group window over a join.
    """
    parsed, filled = only_read(sql, file)
    try:
        tokens = tokens_of(filled.text)
        edits = {edit for each in parsed for query in _of(each) for edit in _edits(query, filled, tokens)}
    except TvfSqlError as error:
        raise filled.located(error, file) from error.__cause__
    for start, end, text in sorted(edits, reverse=True):
        at = filled.original(Span(start, end))
        sql = sql[: at.start] + text + sql[at.end :]
    return sql


def _of(statement: statements.Statement) -> Iterator[ast.GroupWindow]:
    """The group windows of a statement. Raises UnsupportedError if its tables have hints, which would be misplaced."""
    for group in _grouped(statement):
        if isinstance(statement, statements.Hinted) and statement.tables:
            raise UnsupportedError(
                "a query with OPTIONS hints cannot be rewritten",
                span=statement.tables[0].span,
                hint="rewrite it without them, and put them after the table's name again",
            )
        yield group


def _grouped(node: Any) -> Iterator[ast.GroupWindow]:
    """The group windows of statements and of the queries inside them."""
    if isinstance(node, ast.Query) and node.group_window:
        yield node.group_window
    for part in ast.parts_of(node) if not isinstance(node, ast.GroupWindow) else ():
        yield from _grouped(part)


def _edits(group: ast.GroupWindow, filled: Filled, tokens: Sequence[Token]) -> Iterator[Edit]:
    """Replace the calls by columns, and make the table in FROM the function's first argument."""
    for span, columns in group.columns:
        yield span.start, span.end, columns
    call = group.call
    first, last = _table(call.span, tokens)
    if not group.one_table:
        raise UnsupportedError(
            f"{call.function} needs a single table in FROM, not a join",
            span=call.span,
            hint=f"FROM (SELECT ... FROM a JOIN b ...) GROUP BY {call.function}(...)",
        )
    argument = call.arguments[0]
    assert isinstance(argument.value, ast.Descriptor)
    time = argument.value.columns[0].span
    rest = filled.written(argument.span.end, call.span.end)
    keyword = "" if first.type == "OPEN" or first.upper() == "TABLE" else "TABLE "
    start, end = place_of(first).start, place_of(last).end
    names = ", ".join(filled.written(name.span.start, name.span.end) for name in group.partition_by)
    partition = f" PARTITION BY {f'({names})' if len(group.partition_by) > 1 else names}" if names else ""
    arguments = f"{partition}, DESCRIPTOR({filled.written(time.start, time.end)}){rest})"
    if not group.takes_where:
        yield start, start, f"TABLE({call.function}({keyword}"
        yield end, end, arguments
        return
    where = _where_end(call.span, tokens)
    yield start, start, f"TABLE({call.function}(TABLE (SELECT * FROM "
    yield where, where, f"){arguments}{_alias(filled, tokens, last)}"


def _where_end(group: Span, tokens: Sequence[Token]) -> int:
    """The end of the WHERE in the SELECT with this group window: before its GROUP BY."""
    depth, at = 0, next(i for i, token in enumerate(tokens) if place_of(token).start == group.start)
    while depth or tokens[at].upper() != "GROUP":
        at -= 1
        depth += {"CLOSE": 1, "OPEN": -1}.get(tokens[at].type, 0)
    return place_of(tokens[at - 1]).end


def _alias(filled: Filled, tokens: Sequence[Token], last: Token) -> str:
    """The name that the rest of the SELECT may use for the table whose last word this is."""
    at = next(i for i, token in enumerate(tokens) if token is last) + 1
    named = tokens[at] if tokens[at].upper() != "WHERE" else last
    if named.upper() == "AS":
        named = tokens[at + 1]
    place = place_of(named)
    return "" if named.type == "CLOSE" else f" AS {filled.written(place.start, place.end)}"


def _table(group: Span, tokens: Sequence[Token]) -> tuple[Token, Token]:
    """The first and the last word of the table that the SELECT with this group window reads, without its alias."""
    depth, at = 0, next(i for i, token in enumerate(tokens) if place_of(token).start == group.start)
    while depth or tokens[at].upper() != "FROM":
        at -= 1
        depth += {"CLOSE": 1, "OPEN": -1}.get(tokens[at].type, 0)
    first = last = at + 1
    if tokens[first].type == "OPEN":
        last = closing(tokens, first)
    elif tokens[first].upper() == "TABLE" or starts_window_call(tokens, first):
        last = closing(tokens, first + 1)
    while tokens[last + 1].type == "DOT":
        last += 2
    return tokens[first], tokens[last]
