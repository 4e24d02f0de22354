"""Hints, `/*+ ... */`: OPTIONS after a table's name changes its options for one statement. STATE_TTL after SELECT
says how long a stream keeps the rows of its joins. Other hints have no effect.

Blanks replace them in the text, so that positions stay right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tvfsql.errors import Span, SqlSyntaxError, UnsupportedError, did_you_mean
from tvfsql.options.readers import duration
from tvfsql.syntax import ast, statements
from tvfsql.syntax.databases import current
from tvfsql.syntax.hints.state_ttl import with_retention
from tvfsql.syntax.tokens import tokens_of

# Flink's hints about joins and state; here Spark's planner decides, and of state without joins table.exec.state.ttl
IDLE = (
    "BROADCAST", "EARLY_FIRE", "LOOKUP", "MULTI_JOIN", "NEST_LOOP", "SHUFFLE_HASH", "SHUFFLE_MERGE", "STATE_TTL",
)  # fmt: skip
_IN_TEXT = re.compile(r"'(?:[^']|'')*'|`(?:[^`]|``)*`|--[^\n]*|/\*\+(?P<hint>.*?)\*/|/\*.*?\*/", re.DOTALL)
_OPTIONS = re.compile(r"\s*OPTIONS\s*\((?P<pairs>.*)\)\s*", re.DOTALL | re.IGNORECASE)
_STATE_TTL = re.compile(r"\bSTATE_TTL\s*\((?P<pairs>[^)]*)\)", re.IGNORECASE)
_AFTER_SELECT = re.compile(r"\bSELECT\s*\Z", re.IGNORECASE)
_STRING = r"'((?:[^']|'')*)'"
_PAIR = re.compile(rf"\s*{_STRING}\s*=\s*{_STRING}\s*(?:,|$)", re.DOTALL)
_NAME = r"(?:`(?:[^`]|``)*`|[^\W\d]\w*)"
_PATH_BEFORE = re.compile(rf"{_NAME}(?:\s*\.\s*{_NAME}){{0,2}}\s*\Z", re.DOTALL)
_PART = re.compile(_NAME)
_TAKES_OPTIONS = (ast.Query, statements.Insert, statements.StatementSet, statements.Explain)
_EXAMPLE = "FROM t /*+ OPTIONS('key' = 'value') */"
_BEFORE_LISTS = ("SELECT", "DISTINCT", "FROM", "JOIN", "TABLE", "INTO", "WHERE", "BY")


def without_hints(sql: str) -> str:
    """The text with blanks in place of hints."""
    for _, at in _hints(sql) if "/*+" in sql else ():
        sql = sql[: at.start] + re.sub(r"[^\n]", " ", sql[at.start : at.end]) + sql[at.end :]
    return sql


def with_hints(statement: statements.Statement, sql: str, span: Span) -> statements.Statement:
    """Attach the hints at `span` of a text to the statement, whose own span then includes one at its end.

    Raises SqlSyntaxError or UnsupportedError.
    """
    tables: list[statements.TableHint] = []
    idle: list[str] = []
    for hint, at in _hints(sql) if "/*+" in sql else ():
        if not span.start <= at.start < span.end:
            continue
        if at.end > statement.span.end and not tokens_of(sql, Span(statement.span.end, at.start)):
            statement = replace(statement, span=Span(statement.span.start, at.end))
        if re.match(r"\s*OPTIONS\b", hint, re.IGNORECASE):
            tables.append(_of_table(sql, hint, at))
            continue
        names = _names(hint, at)
        if kept := "".join(f"{each['pairs']}," for each in _STATE_TTL.finditer(hint)).rstrip(","):
            if not _AFTER_SELECT.search(sql, 0, at.start):
                raise SqlSyntaxError(
                    "the hint STATE_TTL must follow SELECT", span=at, hint="SELECT /*+ STATE_TTL(...) */ ..."
                )
            before, statement = statement, with_retention(statement, _retention(kept, at), at, without_hints(sql))
            names = [name for name in names if name != "STATE_TTL" or statement is before]
        idle += names
    if not tables and not idle:
        return statement
    if tables and not isinstance(statement, _TAKES_OPTIONS):
        raise UnsupportedError(
            "OPTIONS hints are only allowed in queries and INSERT",
            span=tables[0].span,
            hint="ALTER TABLE t SET ('key' = 'value') before it",
        )
    mentions = [*_mentions(statement)]
    for table in tables:
        _refuse_other_mentions(table, tables, mentions)
    once = {table.table.text.lower(): table for table in tables}
    return statements.Hinted(statement, tuple(once.values()), tuple(dict.fromkeys(idle)), span)


def _refuse_other_mentions(
    hint: statements.TableHint, hints: list[statements.TableHint], names: list[ast.Name]
) -> None:
    """Refuse a table with different hints in one statement, because here its options apply to the whole statement."""
    name = hint.table.text.lower()
    mentions = {
        known.span.end for known in names if known.text.lower() == name
    }  # some spans only cover the last part of a name
    if hint.table.span.end not in mentions:
        raise SqlSyntaxError("the hint OPTIONS must follow the name of a table", span=hint.span, hint=_EXAMPLE)
    alike = {each.table.span.end for each in hints if each.table.text.lower() == name and each.options == hint.options}
    if mentions - alike:
        raise UnsupportedError(
            f"{hint.table.text} occurs several times in this statement, and not always with this hint",
            span=hint.span,
            hint=f"CREATE TABLE other WITH ('key' = 'value') LIKE {hint.table.text}",
        )


def _mentions(node: Any) -> Iterator[ast.Name]:
    """The names of tables in a statement, with their spans."""
    if isinstance(node, ast.TableName):
        yield ast.Name(node.name, node.span)
    if isinstance(node, statements.Insert):
        yield node.table
    for part in ast.parts_of(node):
        yield from _mentions(part)


def _hints(sql: str) -> Iterator[tuple[str, Span]]:
    """Yield the text between `/*+` and `*/`, with the span of the whole comment."""
    return ((found["hint"], Span(*found.span())) for found in _IN_TEXT.finditer(sql) if found["hint"] is not None)


def _of_table(sql: str, hint: str, at: Span) -> statements.TableHint:
    before = _PATH_BEFORE.search(sql, 0, at.start)
    parts = [
        ast.Name(part[0].strip("`").replace("``", "`"), Span(*part.span()))
        for part in (_PART.finditer(sql, before.start(), before.end()) if before else ())
    ]
    if not parts or (len(parts) == 1 and parts[0].text.upper() in _BEFORE_LISTS):
        raise SqlSyntaxError(
            "the hint OPTIONS must follow the name of a table", span=at, hint="FROM t /*+ OPTIONS('k' = 'v') */"
        )
    found = _OPTIONS.fullmatch(hint)
    options = tuple(statements.Option(key, value, at) for key, value in _pairs(found["pairs"] if found else ""))
    if not options:
        raise SqlSyntaxError(
            "the hint OPTIONS takes pairs of a key and a value", span=at, hint="/*+ OPTIONS('key' = 'value', ...) */"
        )
    return statements.TableHint(
        ast.Name(current().key(parts), Span(parts[0].span.start, parts[-1].span.end)), options, at
    )


def _pairs(text: str) -> list[tuple[str, str]]:
    """The pairs of strings in a list; none if it is no such list."""
    found, end = [], 0
    while pair := _PAIR.match(text, end):
        found.append((pair[1].replace("''", "'"), pair[2].replace("''", "'")))
        end = pair.end()
    return [] if text[end:].strip() or text.rstrip().endswith(",") else found


def _retention(text: str, at: Span) -> dict[str, int]:
    """The milliseconds of a STATE_TTL for each name of a table."""
    if not (pairs := _pairs(text)):
        raise SqlSyntaxError(
            "the hint STATE_TTL takes pairs of a table and a duration", span=at, hint="STATE_TTL('t' = '1 d', ...)"
        )
    names = [name.lower() for name, _ in pairs]
    if again := next((name for name in names if names.count(name) > 1), None):
        raise SqlSyntaxError(f"STATE_TTL names {again} twice", span=at, hint=f"STATE_TTL('{again}' = '1 d')")
    return {name: duration(kept, "STATE_TTL", at) for name, kept in pairs}


def _names(hint: str, at: Span) -> list[str]:
    """The hints in one comment, none of which has an effect here."""
    names = [name.upper() for name in re.findall(r"([A-Za-z_]\w*)\s*\(", hint)] or [hint.strip().upper()]
    for name in names:
        if name not in IDLE:
            known = ("OPTIONS", *IDLE)
            raise UnsupportedError(
                f"there is no hint {name}", span=at, hint=did_you_mean(name, known, otherwise="hints: ")
            )
    return names
