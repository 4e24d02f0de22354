"""EMIT at the end of a query: when its windows emit results. sqlglot does not know it, so it does not see it.

EMIT [ON WINDOW CLOSE | ON UPDATE | EVERY INTERVAL '10' SECOND [BEFORE CLOSE]]
     [WITH LATENESS INTERVAL '1' HOUR [PURGE]]
"""

from __future__ import annotations

from collections.abc import Sequence

from lark import Token

from tvfsql.errors import Span, SqlSyntaxError, UnsupportedError
from tvfsql.syntax import ast
from tvfsql.syntax.interval import parse_interval, unit_of
from tvfsql.syntax.tokens import place_of, unquote

STARTS = (("ON", "WINDOW", "CLOSE"), ("ON", "UPDATE"), ("EVERY", "INTERVAL"), ("WITH", "LATENESS"))
USAGE = (
    "EMIT ON WINDOW CLOSE, EMIT ON UPDATE, or EMIT EVERY INTERVAL '10' SECOND [BEFORE CLOSE]; "
    "then WITH LATENESS INTERVAL '1' HOUR [PURGE]"
)


def starts_emit(tokens: Sequence[Token], i: int) -> bool:
    """Whether the clause begins at a word: EMIT may also be a name."""
    if tokens[i].upper() != "EMIT" or (i and tokens[i - 1].type in ("DOT", "COMMA")):
        return False
    after = tuple(token.upper() for token in tokens[i + 1 : i + 4])
    return any(after[: len(start)] == start for start in STARTS) and not _is_compared(tokens, i)


def _is_compared(tokens: Sequence[Token], i: int) -> bool:
    """Whether ON UPDATE is the beginning of a condition after a table named emit."""
    after = tokens[i + 3 : i + 4]
    return tokens[i + 2].upper() == "UPDATE" and bool(after) and after[0].type not in ("NAME", "SEMICOLON", "CLOSE")


def refuse_elsewhere(tokens: Sequence[Token]) -> None:
    """Raise UnsupportedError for the clause in a subquery or a view, whose results are those of the query around it."""
    depth = 0
    of_view = [token.upper() for token in tokens[:1]] in (["CREATE"], ["ALTER"]) and any(
        token.upper() == "VIEW" for token in tokens[:5]
    )
    for i, token in enumerate(tokens):
        depth += {"OPEN": 1, "CLOSE": -1}.get(token.type, 0)
        if (depth or of_view) and starts_emit(tokens, i):
            where = "a view" if of_view else "a subquery"
            raise UnsupportedError(
                f"EMIT does not work in {where}: it says when the results of a whole query leave",
                span=Span(place_of(token).start, place_of(tokens[i + 1]).end),
                hint="EMIT at the end of the query or INSERT",
            )


def emit_of(tokens: Sequence[Token]) -> ast.Emit | None:
    """The clause at the end of the words of a query; None for a query without it. Raises SqlSyntaxError."""
    depth = 0
    for i, token in enumerate(tokens):
        depth += {"OPEN": 1, "CLOSE": -1}.get(token.type, 0)
        if depth == 0 and starts_emit(tokens, i):
            return _Words(tokens, i).emit()
    return None


class _Words:
    """The words of a clause that begins at one of `tokens`."""

    def __init__(self, tokens: Sequence[Token], start: int) -> None:
        self.tokens, self.start, self.at = tokens, start, start + 1

    def emit(self) -> ast.Emit:
        when, every, before_close, lateness, purge = "", 0, False, None, False
        if self.take("ON", "WINDOW", "CLOSE"):
            when = ast.ON_CLOSE
        elif self.take("ON", "UPDATE"):
            when = ast.ON_UPDATE
        elif self.take("EVERY"):
            when, every = ast.EVERY, self.interval("EVERY")
            before_close = self.take("BEFORE", "CLOSE") or self.take("BEFORE", "WINDOW", "CLOSE")
        if self.take("WITH", "LATENESS"):
            lateness = self.interval("LATENESS")
            purge = self.take("PURGE")
        if self.at < len(self.tokens):
            raise SqlSyntaxError(
                f"EMIT ends before {self.tokens[self.at]}", span=place_of(self.tokens[self.at]), hint=USAGE
            )
        span = Span(place_of(self.tokens[self.start]).start, place_of(self.tokens[-1]).end)
        if when == ast.EVERY and lateness is not None and not before_close and every > lateness > 0:
            raise SqlSyntaxError(
                "late rows of EVERY would leave after their window has stopped accepting them: LATENESS is shorter",
                span=span,
                hint="EVERY ... BEFORE CLOSE, which does not wait for late rows",
            )
        return ast.Emit(when, every, before_close, lateness, purge, span)

    def take(self, *words: str) -> bool:
        found = tuple(token.upper() for token in self.tokens[self.at : self.at + len(words)]) == words
        self.at += len(words) if found else 0
        return found

    def interval(self, of: str) -> int:
        """The length that follows, in ms."""
        words = self.tokens[self.at : self.at + 3]
        last = place_of(self.tokens[min(self.at, len(self.tokens) - 1)])
        unit = unit_of(words[2]) if len(words) == 3 else None
        if not self.take("INTERVAL") or unit is None or words[1].type != "STRING":
            raise SqlSyntaxError(f"{of} of EMIT takes an interval", span=last, hint=f"{of} INTERVAL '10' SECOND")
        self.at += 2
        span = Span(place_of(words[0]).start, place_of(words[2]).end)
        try:
            ms, months = parse_interval(unquote(words[1]), unit)
        except ValueError as error:
            raise SqlSyntaxError(str(error), span=span) from None
        if months or ms < 0 or (of == "EVERY" and ms == 0):
            hint = "EMIT ON UPDATE" if ms == 0 and not months else f"{of} INTERVAL '10' SECOND"
            raise SqlSyntaxError(f"{of} of EMIT takes a positive length, without months", span=span, hint=hint)
        return ms
