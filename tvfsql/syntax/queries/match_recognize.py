"""MATCH_RECOGNIZE (...) after a table: where it is among the words of a query, and what it says.

Its words are taken out of the query before sqlglot reads it, and the table gets an alias that no user can write. The
pattern is read by lark (row_pattern.lark), expressions by sqlglot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lark import Token, Tree, UnexpectedInput
from sqlglot import exp

from tvfsql.errors import Span, SqlSyntaxError, UnsupportedError, did_you_mean
from tvfsql.syntax import ast
from tvfsql.syntax.interval import parse_interval, unit_of
from tvfsql.syntax.known.clauses import RESERVED
from tvfsql.syntax.queries.reader import parse_scalar
from tvfsql.syntax.tokens import closing, grammar, piece, place_of, place_of_all, tokens_of, unquote

WORD = "MATCH_RECOGNIZE"
USAGE = (
    "MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.x AS x ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW "
    "PATTERN (A B+ C) DEFINE A AS A.x > 1)"
)
# The clauses in their order: the words that begin them.
CLAUSES = (
    ("PARTITION", "BY"),
    ("ORDER", "BY"),
    ("MEASURES",),
    ("ONE", "ROW", "PER", "MATCH"),
    ("AFTER", "MATCH"),
    ("PATTERN",),
    ("WITHIN",),
    ("SUBSET",),
    ("DEFINE",),
)
SKIPS = "SKIP PAST LAST ROW, SKIP TO NEXT ROW, SKIP TO FIRST A, SKIP TO LAST A"
# sqlglot reads LAST(x) as an aggregate, so it reads the functions under other names of the same length.
NAVIGATION = {"FIRST": "FIR\ue0fdT", "LAST": "LA\ue0fdT"}
NAVIGATED = {other.upper(): name for name, other in NAVIGATION.items()}


@dataclass(frozen=True)
class Found:
    """A MATCH_RECOGNIZE: the place of all its words, of those in parentheses, and its alias, or None."""

    whole: Span
    inside: Span
    alias: ast.Alias | None


def match_clauses(tokens: Sequence[Token]) -> Iterator[Found]:
    """The outermost MATCH_RECOGNIZE clauses of a query, with the aliases behind them."""
    i = 0
    while i < len(tokens) - 1:
        if not (tokens[i].type == "NAME" and tokens[i].upper() == WORD and tokens[i + 1].type == "OPEN"):
            i += 1
            continue
        close = closing(tokens, i + 1)
        alias, after = _alias(tokens, close + 1)
        inside = Span(tokens[i + 1].end_pos or 0, tokens[close].start_pos or 0)
        yield Found(Span(tokens[i].start_pos or 0, tokens[after - 1].end_pos or 0), inside, alias)
        i = after


def _alias(tokens: Sequence[Token], at: int) -> tuple[ast.Alias | None, int]:
    """The alias at a word, and where the words after it begin."""
    said = at < len(tokens) and tokens[at].upper() == "AS"
    at += said
    if at >= len(tokens) or not _is_name(tokens[at], said):
        if said:
            raise SqlSyntaxError("a name is missing after AS", span=place_of(tokens[at - 1]), hint="AS m")
        if at < len(tokens) and tokens[at].type == "OPEN":
            raise SqlSyntaxError("a name is missing before (", span=place_of(tokens[at]), hint="AS m (a, b)")
        return None, at
    name, at, columns = unquote(tokens[at]), at + 1, list[str]()
    if at < len(tokens) and tokens[at].type == "OPEN":
        close = closing(tokens, at)
        inside = tokens[at + 1 : close]
        kinds = ["COMMA" if i % 2 else "NAME" for i in range(len(inside))]
        if ["NAME" if token.type == "QUOTED" else token.type for token in inside] != kinds or len(inside) % 2 == 0:
            raise SqlSyntaxError("an alias has names in parentheses", span=place_of(tokens[at]), hint="AS m (a, b)")
        columns, at = [unquote(token) for token in inside[::2]], close + 1
    return ast.Alias(name, tuple(columns)), at


def _is_name(token: Token, said: bool) -> bool:
    return token.type == "QUOTED" or (token.type == "NAME" and (said or token.lower() not in RESERVED))


def clause_at(words: Sequence[tuple[str, str]], i: int) -> int | None:
    """The number of the clause that begins at a word, if one does. `words` are the kinds of tokens and their texts in
    capitals; the word is not within further parentheses.
    """
    before = words[i - 1] if i else ("", "")
    if words[i][0] != "NAME" or before[0] in ("DOT", "COMMA") or before[1] == "AS":
        return None
    texts = [text for _, text in words[i : i + 4]]
    found = (number for number, clause in enumerate(CLAUSES) if tuple(texts[: len(clause)]) == clause)
    number = next(found, None)
    return None if number is not None and CLAUSES[number] == ("PATTERN",) and texts[1:2] != ["("] else number


def read_match(sql: str, found: Found) -> ast.MatchRecognize:
    """What a MATCH_RECOGNIZE says. Raises SqlSyntaxError, and UnsupportedError for what tvfsql has not."""
    return _Clause(sql, tokens_of(sql, found.inside), found.whole).read()


class _Clause:
    """The words of a clause, which are read from left to right."""

    def __init__(self, sql: str, tokens: Sequence[Token], span: Span) -> None:
        self.sql, self.tokens, self.span = sql, tokens, span

    def read(self) -> ast.MatchRecognize:
        parts = dict(self._parts())
        for word, hint in (("PATTERN", "PATTERN (A B+ C)"), ("DEFINE", "DEFINE A AS A.x > 1")):
            if word not in parts:
                raise SqlSyntaxError(f"MATCH_RECOGNIZE needs {word}", span=self._head, hint=hint)
        if "SUBSET" in parts:
            raise UnsupportedError("SUBSET is not supported", span=place_of(parts["SUBSET"][0]))
        if "ORDER BY" not in parts:
            raise SqlSyntaxError("MATCH_RECOGNIZE needs ORDER BY", span=self._head, hint="ORDER BY ts")
        skip, target = self._skip(parts.get("AFTER MATCH", ()))
        return ast.MatchRecognize(
            tuple(map(self._expr, self._list(parts.get("PARTITION BY", ())))),
            tuple(map(self._order, self._list(parts["ORDER BY"]))),
            tuple(map(self._measure, self._list(parts.get("MEASURES", ())))),
            self._pattern(parts["PATTERN"]),
            tuple(map(self._definition, self._list(parts["DEFINE"]))),
            self._within(parts["WITHIN"]) if "WITHIN" in parts else None,
            skip,
            target,
            self.span,
        )

    @property
    def _head(self) -> Span:
        return Span(self.span.start, self.span.start + len(WORD))

    def _parts(self) -> Iterator[tuple[str, Sequence[Token]]]:
        """The clauses, each with the words after those that begin it; without any such word with its own."""
        starts = [*self._starts()]
        if not starts or starts[0][0]:
            first = self.tokens[0] if self.tokens else None
            place = place_of(first) if first else self._head
            raise SqlSyntaxError(f"unexpected {first}" if first else "an empty MATCH_RECOGNIZE", span=place, hint=USAGE)
        before = -1
        for (at, number), after in zip(starts, [*(at for at, _ in starts[1:]), len(self.tokens)], strict=True):
            words = CLAUSES[number]
            if number <= before:
                why = "stands twice" if number == before else f"must come before {' '.join(CLAUSES[before])}"
                raise SqlSyntaxError(f"{' '.join(words)} {why}", span=place_of(self.tokens[at]), hint=USAGE)
            before = number
            inside = self.tokens[at + len(words) : after]
            if not inside and words[0] != "ONE":
                place = place_of(self.tokens[at + len(words) - 1])
                raise SqlSyntaxError(f"something is missing after {' '.join(words)}", span=place, hint=USAGE)
            if inside and words[0] == "ONE":
                raise SqlSyntaxError(f"unexpected {inside[0]}", span=place_of(inside[0]), hint="ONE ROW PER MATCH")
            yield " ".join(words), inside

    def _starts(self) -> Iterator[tuple[int, int]]:
        """Where clauses begin, outside of parentheses, and their numbers."""
        words = [(token.type, token.upper()) for token in self.tokens]
        depth = 0
        for i, token in enumerate(self.tokens):
            depth += {"OPEN": 1, "CLOSE": -1}.get(token.type, 0)
            if depth:
                continue
            if [each.upper() for each in self.tokens[i : i + 4]] == ["ALL", "ROWS", "PER", "MATCH"]:
                raise UnsupportedError(
                    "ALL ROWS PER MATCH is not supported", span=place_of(token), hint="ONE ROW PER MATCH"
                )
            if (number := clause_at(words, i)) is not None:
                yield i, number

    def _list(self, tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
        """The items between commas."""
        if not tokens:
            return
        if tokens[0].type == "OPEN" and closing(tokens, 0) == len(tokens) - 1:
            tokens = tokens[1:-1]
        depth, start = 0, 0
        for i, token in enumerate(tokens):
            depth += {"OPEN": 1, "CLOSE": -1}.get(token.type, 0)
            if token.type == "COMMA" and not depth:
                yield self._item(tokens[start:i], token)
                start = i + 1
        yield self._item(tokens[start:], tokens[-1] if tokens else None)

    def _item(self, tokens: Sequence[Token], comma: Token | None) -> Sequence[Token]:
        if not tokens:
            place = place_of(comma) if comma else self._head
            raise SqlSyntaxError("something is missing next to this comma", span=place, hint="leave it out")
        return tokens

    def _expr(self, tokens: Sequence[Token]) -> ast.Expr:
        """The expression of these words, in which LAST and FIRST are Anonymous functions."""
        span = place_of_all(tokens)
        text = self.sql[span.start : span.end]
        for i, token in enumerate(tokens):
            word, calls = token.upper(), tokens[i + 1 : i + 2] and tokens[i + 1].type == "OPEN"
            at = place_of(token).start - span.start
            if word in NAVIGATION and calls and token.type == "NAME":
                text = text[:at] + NAVIGATION[word] + text[at + len(word) :]
            if word in ("RUNNING", "FINAL") and tokens[i + 2 : i + 3] and tokens[i + 2].type == "OPEN":
                raise UnsupportedError(f"{word} is not supported", span=place_of(token), hint="leave it out")
        tree = parse_scalar(text, span).tree.copy()
        for node in [*tree.find_all(exp.Anonymous)]:
            node.set("this", NAVIGATED.get(node.name.upper(), node.this))
        return ast.Expr(tree, span)

    def _order(self, tokens: Sequence[Token]) -> ast.OrderItem:
        words = [token.upper() for token in tokens]
        nulls = None
        if len(words) > 2 and words[-2] == "NULLS" and words[-1] in ("FIRST", "LAST"):
            nulls, tokens, words = words[-1] == "FIRST", tokens[:-2], words[:-2]
        descending = words[-1] == "DESC"
        if len(words) > 1 and words[-1] in ("ASC", "DESC"):
            tokens = tokens[:-1]
        return ast.OrderItem(self._expr(tokens), descending, not descending if nulls is None else nulls)

    def _measure(self, tokens: Sequence[Token]) -> ast.SelectItem:
        name, value = self._named(tokens, at=-2, hint="MEASURES A.x AS x")
        return ast.SelectItem(self._expr(value), name, span=place_of_all(tokens))

    def _definition(self, tokens: Sequence[Token]) -> tuple[ast.Name, ast.Expr]:
        name, value = self._named(tokens, at=1, hint="DEFINE A AS A.x > 1")
        return name, self._expr(value)

    def _named(self, tokens: Sequence[Token], *, at: int, hint: str) -> tuple[ast.Name, Sequence[Token]]:
        """The name on one side of AS, and the words on the other one."""
        if len(tokens) < 3 or tokens[at].upper() != "AS":
            place = place_of_all(tokens)
            raise SqlSyntaxError("a name and AS are missing here", span=place, hint=hint)
        name, value = (tokens[-1], tokens[:-2]) if at < 0 else (tokens[0], tokens[2:])
        if name.type not in ("NAME", "QUOTED"):
            raise SqlSyntaxError(f"unexpected {name}", span=place_of(name), hint=hint)
        return ast.Name(unquote(name), place_of(name)), value

    def _within(self, tokens: Sequence[Token]) -> ast.Interval:
        span = place_of_all(tokens)
        units = [unit_of(token) for token in tokens[2:] if token.type == "NAME" and token.upper() != "TO"]
        shape = [token.type for token in tokens[:3]] == ["NAME", "STRING", "NAME"] and tokens[0].upper() == "INTERVAL"
        if not shape or None in units or len(tokens) not in (3, 5):
            raise SqlSyntaxError("WITHIN needs an interval", span=span, hint="WITHIN INTERVAL '1' HOUR")
        first, *to = [unit for unit in units if unit]
        try:
            ms, months = parse_interval(unquote(tokens[1]), first, *to)
        except ValueError as error:
            raise SqlSyntaxError(str(error), span=place_of(tokens[1])) from None
        if months or ms <= 0:
            why = "cannot be of months" if months else "must be longer than 0"
            raise SqlSyntaxError(f"the interval of WITHIN {why}", span=span, hint="WITHIN INTERVAL '1' HOUR")
        return ast.Interval(ms, 0, span)

    def _skip(self, tokens: Sequence[Token]) -> tuple[str, ast.Name | None]:
        words = [token.upper() for token in tokens]
        match words:
            case []:
                return "to next row", None
            case ["SKIP", "PAST", "LAST", "ROW"]:
                return "past last row", None
            case ["SKIP", "TO", "NEXT", "ROW"]:
                return "to next row", None
            case ["SKIP", "TO", "FIRST" | "LAST" as which, _] if tokens[3].type in ("NAME", "QUOTED"):
                return f"to {which.lower()}", ast.Name(unquote(tokens[3]), place_of(tokens[3]))
            case ["SKIP", "TO", _] if tokens[2].type in ("NAME", "QUOTED"):
                return "to last", ast.Name(unquote(tokens[2]), place_of(tokens[2]))
        place = place_of_all(tokens)
        raise SqlSyntaxError("AFTER MATCH says how to go on in one of four ways", span=place, hint=SKIPS)

    def _pattern(self, tokens: Sequence[Token]) -> tuple[ast.PatternVariable, ...]:
        span = place_of_all(tokens)
        try:
            tree = grammar("row_pattern").parse(piece(self.sql, span))
        except UnexpectedInput as error:
            at = getattr(error, "pos_in_stream", None)
            place = span if at is None or at < 0 else Span(at, at + 1)
            word = self.sql[place.start : place.end]
            raise SqlSyntaxError(
                f"unexpected {word} in a pattern", span=place, hint="PATTERN (A B+ C{1,3} D)"
            ) from None
        return tuple(self._variables(tree))

    def _variables(self, tree: Tree[Token]) -> Iterator[ast.PatternVariable]:
        for part in tree.children:
            if isinstance(part, Token):
                if part.type == "BAR":
                    raise self._unknown("alternatives (|)", part, "a query for each, with UNION ALL")
                continue
            if part.data == "alternation":
                bar = next(each for each in part.children if isinstance(each, Token))
                raise self._unknown("alternatives (|)", bar, "a query for each, with UNION ALL")
            if part.data == "sequence":
                yield from self._variables(part)
            elif part.data == "factor":
                yield from self._factor(part)

    def _factor(self, tree: Tree[Token]) -> Iterator[ast.PatternVariable]:
        first, *quantifiers = tree.children
        if isinstance(first, Tree):
            kinds = {
                "group": ("a group", "name each variable without parentheses"),
                "permute": ("PERMUTE", "a query for each order, with UNION ALL"),
                "exclusion": ("{- -}", "leave out the braces"),
                "anchor": ("^ or $", "leave it out"),
            }
            if first.data == "group" and not quantifiers:
                yield from self._variables(first)
                return
            raise self._unknown(*_with_place(kinds[str(first.data)], first))
        name = ast.Name(unquote(first), place_of(first))
        how, place = self._quantifier(quantifiers), place_of(first)
        if quantifiers:
            place = Span(place.start, tree.meta.end_pos)
        yield ast.PatternVariable(name, *how, place)

    def _quantifier(self, trees: Sequence[Tree[Token] | Token]) -> tuple[int, int | None, bool]:
        if not trees:
            return 1, 1, True
        (tree,) = trees
        assert isinstance(tree, Tree)
        span = Span(tree.meta.start_pos, tree.meta.end_pos)
        kind, greedy = tree.children[0], len(tree.children) == 1
        least: int
        most: int | None
        if isinstance(kind, Token):
            least, most = int(kind == "+"), 1 if kind == "?" else None
        else:
            numbers = [token for token in kind.children if isinstance(token, Token) and token.type == "NUMBER"]
            for number in numbers:
                if not number.isdigit():
                    raise SqlSyntaxError("a number of rows is missing here", span=place_of(number), hint="A{2}")
            first, last = int(numbers[0]), int(numbers[-1])
            least = 0 if kind.data == "at_most" else first
            most = None if kind.data == "at_least" else last
        if most is not None and (most == 0 or most < least):
            why = "at least one row" if most == 0 else "a number that is not less than the first one"
            raise SqlSyntaxError(f"this quantifier needs {why}", span=span, hint="A{1,3}")
        if (least, most) == (0, 1) and not greedy:
            raise UnsupportedError("the reluctant quantifier ?? is not supported", span=span, hint="A?")
        return least, most, greedy

    def _unknown(self, what: str, at: Token | Tree[Token], hint: str) -> UnsupportedError:
        place = place_of(at) if isinstance(at, Token) else Span(at.meta.start_pos, at.meta.end_pos)
        return UnsupportedError(f"{what} in a pattern is not supported", span=place, hint=hint)


def _with_place(of: tuple[str, str], tree: Tree[Token]) -> tuple[str, Tree[Token], str]:
    return of[0], tree, of[1]


def closest(name: str, known: Sequence[str]) -> str | None:
    """A hint for a variable that the pattern has not."""
    return did_you_mean(name, known, otherwise="variables: ")
