"""Which words are keywords where they stand, so that their case has no meaning.

Most of Flink's keywords can be names too: sqlglot reads `SELECT language FROM t` as a column. So a word counts as one
if it is reserved, or by the words beside it. In doubt it stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tvfsql.plan.tables.options import CONFLICTS
from tvfsql.syntax.tokens import FUNCTIONS

if TYPE_CHECKING:
    from tvfsql.syntax.layout.word import Word

# Those that sqlglot does not take for a name, except after AS; a test asks it.
RESERVED = frozenset(
    """
    AND AS BETWEEN CROSS DISTINCT ELSE EXCEPT FROM HAVING INNER INTERSECT JOIN LIKE NOT ON OR OUTER QUALIFY SELECT THEN
    UNION USING VALUES WHEN WHERE WITH
    """.split()
)
EMITTED = ("EVERY", "ON", "WITH")  # what can follow EMIT at the end of a query
QUERY_STARTS = ("SELECT", "WITH", "VALUES")
JOINS = ("NATURAL", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "OUTER", "SEMI", "ANTI")  # what can precede JOIN
# The first words of statements; each occurs once there.
HEADS = frozenset(
    """
    ALTER BEGIN CALL CATALOG CREATE DATABASE DECLARE DESC DESCRIBE DROP EXECUTE EXPLAIN FUNCTION INSERT INTO OR
    OVERWRITE REPLACE RESET SET SHOW STATEMENT SUMMARIZE SYSTEM TABLE TEMPORARY USE VIEW
    """.split()
)
NAMED = ("TABLE", "VIEW", "FUNCTION", "CATALOG", "DATABASE", "INTO", "OVERWRITE")  # a name follows
# Words that are keywords before these words or kinds of words, and after these.
BEFORE = {
    "ALL": ("SELECT", "OPEN"),
    "BY": ("NAME", "QUOTED", "OPEN", "NUMBER", "STRING"),
    "COMMENT": ("STRING",),
    "CONFLICT": ("DO",),
    "DESCRIPTOR": ("OPEN",),
    "DO": CONFLICTS,
    "ENFORCED": ("COMMA", "CLOSE"),
    "FILTER": ("OPEN",),
    "FOR": ("NAME", "QUOTED"),
    "GROUP": ("BY", "OPEN"),
    "IF": ("NOT", "EXISTS"),
    "IN": ("OPEN",),
    "INTERVAL": ("STRING", "UNARY"),
    "IS": ("NULL", "NOT", "TRUE", "FALSE", "DISTINCT"),
    "KEY": ("OPEN", "NOT"),
    "LANGUAGE": ("NAME",),
    "LIMIT": ("NUMBER",),
    "ORDER": ("BY",),
    "OVER": ("OPEN",),
    "PARTITION": ("BY",),
    "PARTITIONED": ("BY",),
    "PRIMARY": ("KEY",),
    "TABLE": ("NAME", "QUOTED", "OPEN"),
    "WATERMARK": ("FOR",),
} | dict.fromkeys(FUNCTIONS, ("OPEN",))
AFTER = {
    "ALL": ("UNION", "EXCEPT", "INTERSECT"),
    "BY": ("GROUP", "ORDER", "PARTITION", "PARTITIONED"),
    "COMMENT": ("CLOSE", "NAME", "QUOTED"),
    "CONFLICT": ("ON",),
    "DO": ("CONFLICT",),
    "ENFORCED": ("NOT",),
    "EXISTS": ("WHERE", "AND", "OR", "NOT", "IF"),
    "FILTER": ("CLOSE",),
    "FOR": ("WATERMARK",),
    "IN": ("NAME", "QUOTED", "NOT", "CLOSE"),
    "IS": ("NAME", "QUOTED", "CLOSE"),
    "KEY": ("PRIMARY",),
    "LANGUAGE": ("STRING",),
    "NULL": ("IS", "NOT"),
    "OVER": ("CLOSE",),
    "TABLE": ("OPEN", "ARROW", "COMMA", "FROM", "JOIN"),
}
AFTER |= dict.fromkeys(FUNCTIONS, ("OPEN", "FROM", "JOIN", "COMMA")) | dict.fromkeys(CONFLICTS, ("DO",))


def put_into_capitals(words: Sequence[Word]) -> None:
    """Write the keywords of a script in capitals."""
    own = [word for word in words if word.kind not in ("COMMENT", "HINT")]
    for i in _heads(own):
        own[i].text = own[i].upper
    cases: list[Word] = []
    for i, word in enumerate(own):
        if word.kind != "NAME":
            continue
        before, after = own[i - 1] if i else None, own[i + 1] if i + 1 < len(own) else None
        if "." in (before and before.text, after and after.text):
            continue
        if word.upper == "EMIT" and after and after.upper in EMITTED:
            _put_emit_into_capitals(own[i:])
        if _is_keyword(own, i, before, after):
            word.text = word.upper
        if word.upper == "CASE" and before and after and _starts_case(before, after):
            cases.append(word)
        elif word.upper == "END" and cases:
            word.text, cases.pop().text = "END", "CASE"


def _put_emit_into_capitals(words: Sequence[Word]) -> None:
    """Write EMIT in capitals, if nothing but its clause follows."""
    clause = words[: next((i for i, word in enumerate(words) if word.kind == "SEMICOLON"), len(words))]
    if all(word.kind in ("NAME", "STRING") for word in clause):
        for word in clause:
            word.text = word.upper if word.kind == "NAME" else word.text


def _is_keyword(words: Sequence[Word], i: int, before: Word | None, after: Word | None) -> bool:
    word = words[i].upper
    if before is not None and before.upper == "AS" and word not in QUERY_STARTS:
        return False
    if word in JOINS and word not in RESERVED:
        rest = next((each.upper for each in words[i + 1 :] if each.upper not in JOINS), "")
        return rest == "JOIN"
    if word in RESERVED:
        return not _is_column(before, after)
    return (word in BEFORE or word in AFTER) and _fits(before, AFTER.get(word)) and _fits(after, BEFORE.get(word))


def _is_column(before: Word | None, after: Word | None) -> bool:
    """Whether a reserved word may be the name of a column in CREATE TABLE: a type follows it."""
    listed = before is not None and before.kind in ("OPEN", "COMMA")
    return listed and after is not None and after.kind == "NAME" and after.upper in _TYPES


_TYPES = frozenset("BIGINT BOOLEAN BYTES CHAR DATE DECIMAL DOUBLE FLOAT INT STRING TIME TIMESTAMP VARCHAR".split())


def _fits(word: Word | None, known: Sequence[str] | None) -> bool:
    """Whether a word beside another is one of the known ones, or of a known kind."""
    return known is None or (word is not None and (word.upper in known or word.kind in known))


def _starts_case(before: Word, after: Word) -> bool:
    return before.upper not in ("FROM", "JOIN", "AS", "TABLE", "INTO") and after.kind not in ("COMMA", "CLOSE", "EQUAL")


def _heads(words: Sequence[Word]) -> list[int]:
    """The positions of the words that begin a statement."""
    found: list[int] = []
    seen: set[str] = set()
    begins = True
    for i, word in enumerate(words):
        begins = begins and word.kind == "NAME" and word.upper in HEADS and word.upper not in seen
        if begins:
            found.append(i)
            seen.add(word.upper)
            begins = word.upper not in NAMED
        if word.kind == "SEMICOLON" or (word.upper == "BEGIN" and i in found[-1:]):
            begins, seen = True, set()
    return found
