"""A script as an editor needs it: all its errors and warnings with their places, and what each word means.

`check` stops at the first error. Here each statement is executed alone, in order, without Spark, and a statement with
an error is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from lark import Token

from tvfsql.api import Session
from tvfsql.api.script import Outcome, Script, queries_of
from tvfsql.bind.flink import by_name
from tvfsql.bind.statements.show_create import create_statement
from tvfsql.catalog import Table, View
from tvfsql.errors import Span, TvfSqlError
from tvfsql.lint import linted
from tvfsql.shell.completion import Candidate, candidates
from tvfsql.syntax.parser import split_statements
from tvfsql.syntax.tokens import place_of, tokens_of, unquote

NAMES = ("NAME", "QUOTED")
UNTOLD = ("keyword", "file", "option", "statement")  # completions that say nothing about a word
_MEANT = re.compile(r"did you mean (\S+)\?")


@dataclass(frozen=True)
class Problem:
    """An error, or a warning of a lint rule: then `rule` is its name."""

    span: Span
    message: str
    hint: str | None = None
    rule: str | None = None


@dataclass(frozen=True)
class Edit:
    """A change that solves or silences a problem: `text` in place of what is at `span`."""

    title: str
    span: Span
    text: str


@dataclass(frozen=True)
class Definition:
    """Where a statement names what it makes: a table, a view, a function or a parameter."""

    name: str
    span: Span


@dataclass
class Reading:
    """A script that has been read. `session` is as after its last statement; `results` has the output columns of the
    queries in each statement, and their types in SQL.
    """

    text: str
    session: Session
    problems: list[Problem] = field(default_factory=list)
    results: list[tuple[Span, dict[str, str]]] = field(default_factory=list)

    def completions(self, offset: int) -> list[Candidate]:
        """What can stand at a place."""
        return candidates(self.text[:offset], self.text[offset:], self.session)

    def about(self, offset: int) -> tuple[Span, str] | None:
        """The word at a place, and what it means, in Markdown; None if nothing is known of it."""
        word = self._word(offset)
        if word is None:
            return None
        at, name = place_of(word), unquote(word)
        called = self.text[at.end :].lstrip()[:1] == "("
        for each in self.completions(at.end):
            function = each.text.endswith(("(", "()"))
            if _name(each.text).lower() != name.lower() or each.about in UNTOLD or function != called:
                continue
            entry = self.session.catalog.find(name)
            if each.about in ("table", "view") and entry is not None:
                return at, _entry(entry)
            if each.about == "parameter":
                return at, _sql(f":{name} = {self.session.script.parameters.declared[name.lower()]}")
            return at, self._function(name) if function else _sql(f"{each.text} {each.about}".strip())
        types = [result[name] for span, result in self.results if span.start <= offset < span.end and name in result]
        return (at, _sql(f"{name} {types[0]} of the result")) if types else None

    def definition(self, offset: int) -> Definition | None:
        """The definition in this script of the word at a place."""
        word = self._word(offset)
        return self.defined(unquote(word)) if word is not None else None

    def defined(self, name: str) -> Definition | None:
        """The last definition of a name in this script, which may be written with its database."""
        found = [each for each in definitions(self.text) if each.name.lower() == name.lower()]
        found = found or [each for each in definitions(self.text) if _last(each.name) == name.lower()]
        return found[-1] if found else None

    def word(self, offset: int) -> str | None:
        """The name at a place."""
        word = self._word(offset)
        return unquote(word) if word is not None else None

    def edits(self, span: Span) -> Iterator[tuple[Problem, Edit]]:
        """What can be done about the problems at a place."""
        for problem in self.problems:
            if problem.span.start <= span.end and span.start <= problem.span.end:
                for edit in (_meant(problem, self.text), _silenced(problem, self.text)):
                    if edit is not None:
                        yield problem, edit

    def _word(self, offset: int) -> Token | None:
        at = (each for each in _tokens(self.text) if place_of(each).start <= offset <= place_of(each).end)
        return next((each for each in at if each.type in NAMES), None)

    def _function(self, name: str) -> str:
        own = self.session.catalog.functions.get(name.lower())
        if own is not None:
            return f"{_sql(f'{own.name}(...) {own.result.flink}')}\n\nthe Python function `{own.path}`"
        shown = [each for before in ("SELECT", "FROM") for each in candidates(f"{before} {name}", "", self.session)]
        shown = [each for each in shown if each.shown and _name(each.text) == name.upper()]
        calls = [each.shown + (f" {each.about}" if each.about != "function" else "") for each in shown]
        notes = [each.note for each in by_name().get(name.upper(), ()) if each.note]
        return "\n\n".join([_sql("\n".join(dict.fromkeys(calls))), *dict.fromkeys(notes)])


def read(text: str, session: Session, fresh: Callable[[], Script], file: str | None = None) -> Reading:
    """Read a script: each call of `fresh` returns the state in which it begins. Its last state becomes that of
    `session`.
    """
    read = Reading(text, session)
    session.script = fresh()
    spans = [span for span, _ in _statements(text, read.problems)]
    until = spans[-1].end if spans else 0
    if not read.problems:
        try:
            warnings, outcomes = linted(text, session.script, file)
        except TvfSqlError:
            pass
        else:
            read.problems += (Problem(each.span, each.message, each.hint, each.rule) for each in warnings)
            read.results += _results(spans, outcomes)
            return read
    session.script = fresh()
    left, missing = text[:until], set[str]()
    for span in spans:
        try:
            outcomes = [*session.script.outcomes(_blank(text[: span.start]) + text[span.start : span.end], file)]
            read.results += _results([span], outcomes)
        except TvfSqlError as error:
            left = left[: span.start] + _blank(left[span.start : span.end]) + left[span.end :]
            names = [each.name.lower() for each in definitions(text[span.start : span.end])]
            if error.message.lower() not in {f"there is no {kind} {name}" for kind in KINDS for name in missing}:
                read.problems.append(_problem(error, text, span))
            missing |= {*names}
    warnings, _ = linted(left, fresh(), file)
    read.problems += (Problem(each.span, each.message, each.hint, each.rule) for each in warnings)
    return read


KINDS = ("table", "view", "function")


def definitions(text: str) -> Iterator[Definition]:
    """What the statements of a script make."""
    for _, words in _statements(text, []):
        upper = [word.upper() for word in words]
        if upper[:1] == ["DECLARE"] and words[1:2] and words[1].type in NAMES:
            yield Definition(unquote(words[1]), place_of(words[1]))
        at = next((i for i, word in enumerate(upper[:4]) if word in ("TABLE", "VIEW", "FUNCTION")), None)
        if upper[:1] != ["CREATE"] or at is None:
            continue
        at += 4 if upper[at + 1 : at + 4] == ["IF", "NOT", "EXISTS"] else 1
        parts = [*words[at : at + 1]]
        for dot, part in zip(words[at + 1 :: 2], words[at + 2 :: 2], strict=False):
            if dot != ".":
                break
            parts.append(part)
        if parts and all(part.type in NAMES for part in parts):
            name = ".".join(map(unquote, parts))
            yield Definition(name, Span(place_of(parts[0]).start, place_of(parts[-1]).end))


def _statements(text: str, problems: list[Problem]) -> list[tuple[Span, Sequence[Token]]]:
    """The statements and their words, each up to where the next one starts. From a character on that forms no word, as
    a quote that is not closed, nothing is read: then the error is added to `problems`.
    """
    end = len(text)
    try:
        tokens = tokens_of(text)
    except TvfSqlError as error:
        place = error.span or Span(0, 0)
        problems.append(Problem(place, error.message, error.hint))
        end = text.rfind(";", 0, place.start) + 1
        tokens = _tokens(text[:end])
    ended, rest = split_statements(tokens)
    found = [words for words in (*ended, rest) if words]
    starts = [place_of(words[0]).start for words in found]
    return [(Span(*span), words) for span, words in zip(pairwise([*starts, end]), found, strict=True)]


def _tokens(text: str) -> list[Token]:
    try:
        return tokens_of(text)
    except TvfSqlError as error:
        return _tokens(text[: error.span.start]) if error.span and error.span.start < len(text) else []


def _results(spans: Sequence[Span], outcomes: Sequence[Outcome]) -> Iterator[tuple[Span, dict[str, str]]]:
    for span, outcome in zip(spans, outcomes, strict=True):
        for query in queries_of(outcome):
            yield span, {part.name: part.type.flink for part in query.physical.schema}


def _problem(error: TvfSqlError, text: str, statement: Span) -> Problem:
    """An error of a statement. If its place is in another text, as that of a view, the message shows that."""
    span, source = error.span, error.source or ""
    if span is not None and source[span.start : span.end] == text[span.start : span.end]:
        return Problem(span, error.message, error.hint)
    first = re.compile(r"\w+|.").match(text, statement.start)
    place = Span(*first.span()) if first else statement
    if span is None or error.source is None:
        return Problem(place, error.message, error.hint)
    return Problem(place, str(error).removeprefix("error: ").partition("\nhint: ")[0], error.hint)


def _meant(problem: Problem, text: str) -> Edit | None:
    """The name that a hint suggests in place of the one that is there."""
    found = _MEANT.fullmatch(problem.hint or "")
    there = text[problem.span.start : problem.span.end]
    if found is None:
        return None
    if re.fullmatch(r"`[^`]+`|[\w$.]+", there):
        return Edit(f"Write {found[1]}", problem.span, found[1])
    return Edit(f"Write '{found[1]}'", problem.span, f"'{found[1]}'") if re.fullmatch("'[^']*'", there) else None


def _silenced(problem: Problem, text: str) -> Edit | None:
    """The comment that silences a warning, in a line of its own above it."""
    if problem.rule is None:
        return None
    start = text.rfind("\n", 0, problem.span.start) + 1
    indent = re.compile(r"[ \t]*").match(text, start)
    comment = f"{indent[0] if indent else ''}-- lint: ignore {problem.rule}\n"
    return Edit(f"Ignore {problem.rule} here", Span(start, start), comment)


def _entry(entry: Table | View) -> str:
    """A table as its CREATE TABLE, a view as its columns and its query. Passwords are asterisks."""
    if isinstance(entry, Table):
        return _sql(create_statement(entry))
    columns = "\n".join(f"{part.name} {part.type.flink}" for part in entry.fields)
    return f"{_sql(columns)}\n\n{_sql(create_statement(entry))}"


def _sql(text: str) -> str:
    return f"```sql\n{text}\n```"


def _blank(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)


def _name(text: str) -> str:
    """The name in a completion, without quotes and parentheses."""
    return text.rstrip("()").strip("`'")


def _last(name: str) -> str:
    return name.rpartition(".")[2].lower()
