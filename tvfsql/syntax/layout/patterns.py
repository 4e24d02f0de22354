"""The layout of MATCH_RECOGNIZE (...): each clause on a line of its own, quantifiers beside their variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tvfsql.syntax.layout.word import Word
from tvfsql.syntax.queries.match_recognize import CLAUSES, WORD, clause_at

QUANTIFIER = "QUANTIFIER"  # kind of a word that follows a variable of a pattern without a blank
SKIPPED = ("SKIP", "PAST", "TO", "NEXT", "FIRST", "LAST", "ROW", "MATCH")


def mark_patterns(words: Sequence[Word]) -> None:
    """Write the keywords of MATCH_RECOGNIZE clauses in capitals, and mark the quantifiers of their patterns."""
    for i, word in enumerate(words):
        if word.kind == "NAME" and word.upper == WORD and words[i + 1 : i + 2] and words[i + 1].kind == "OPEN":
            word.text = word.upper
            _mark(words[i + 1 :])


def _mark(words: Sequence[Word]) -> None:
    """The same for the words from the opening parenthesis of a clause."""
    depth, braces, clause = 0, 0, ""
    for i, word in enumerate(words):
        depth += {"OPEN": 1, "CLOSE": -1}.get(word.kind, 0)
        if not depth:
            return
        begun = begins(words, i) if depth == 1 else 0
        if begun:
            clause = word.upper
        for each in words[i : i + begun]:
            each.text = each.upper
        if depth == 1 and clause == "AFTER" and word.kind == "NAME" and word.upper in SKIPPED:
            word.text = word.upper
        if depth > 1 and clause == "PATTERN":
            braces += word.text == "{"
            if braces or word.text in ("+", "*", "?"):
                word.kind = QUANTIFIER
            braces -= word.text == "}"


def begins(words: Sequence[Word], i: int) -> int:
    """How many words begin a clause of MATCH_RECOGNIZE at a word outside of other parentheses; 0: none begins there."""
    number = clause_at([(word.kind, word.upper) for word in words[max(0, i - 1) : i + 4]], min(i, 1))
    return 0 if number is None else len(CLAUSES[number])


def clauses_of(words: Sequence[Word | None]) -> Iterator[int]:
    """Where the clauses begin among the nodes between the parentheses of a clause; None stands for a parenthesis."""
    places = [i for i, word in enumerate(words) if word is None or word.kind not in ("COMMENT", "HINT")]
    own = [words[i] or Word("(", "OPEN", 0) for i in places]
    yield from (place for i, place in enumerate(places) if words[place] is not None and begins(own, i))
