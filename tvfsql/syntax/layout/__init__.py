"""Lays out a script as a careful person would, and changes nothing but blanks, line ends and the case of keywords.

It works on the script's own words, not on a syntax tree: a generator of SQL from a tree would have to know each of
Flink's constructs, and would lose comments. Here each word, comment and hint of the script is written once, in order,
and the result is compared with the script at the end. So its meaning cannot change.

`words` reads words and comments, `groups` makes parentheses and CASE a tree, `statements` and `queries` decide where
lines end, `page` writes them.
"""

from __future__ import annotations

from collections.abc import Sequence

from tvfsql.errors import TvfSqlError
from tvfsql.syntax.layout.page import Page
from tvfsql.syntax.layout.statements import lay_out
from tvfsql.syntax.layout.words import read, same_contents
from tvfsql.syntax.parameters import only_read
from tvfsql.syntax.parser import statement_spans

PASSES = 4  # a comment in the middle of an expression can move lines once more


def format_script(sql: str, file: str | None = None) -> str:
    """The script in the standard layout. Formatting the result again changes nothing.

    Raises the TvfSqlError of the parser for a script that it refuses.
    """
    try:
        only_read(sql, file)
        starts = _starts(sql)
    except TvfSqlError as error:
        raise error.within(sql, file) from error.__cause__
    text = _laid_out(sql, starts)
    for _ in range(PASSES):
        again = _laid_out(text, _starts(text))
        if again == text:
            break
        text = again
    assert same_contents(sql, text), "the formatter changed a word or a comment"
    return text


def _starts(sql: str) -> list[int]:
    """Where the statements start, the first one with what is before it."""
    return [0, *(span.start for span in [*statement_spans(sql)][1:])]


def _laid_out(sql: str, starts: Sequence[int]) -> str:
    words, rest = read(sql)
    page = Page()
    before = ""  # the first word of the statement before, if that is on one line
    for start, end in zip(starts, [*starts[1:], len(sql)], strict=True):
        statement = [word for word in words if start <= word.start < end]
        if not statement:
            break  # the script has no statement
        first = statement[0]
        apart = first.apart or bool(first.before)
        line = page.here()
        page.head(first)
        begin = page.here()
        lay_out(statement, page, sql)
        short = page.here() == begin + 1
        if not (short and first.upper == before and not apart):
            page.blank_line(line)
        before = first.upper if short else ""
    page.last_comments(rest)
    return page.text("\r\n" if "\r\n" in sql.partition("\n")[0] + "\n" else "\n")
