"""Near misses: SQL that compiles, but is probably not what its author means.

`rules` has a function for each. A comment `-- lint: ignore RULE` on the line of a warning, or on the line above it,
silences it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TextIO

from tvfsql.api.script import Outcome, Script, queries_of
from tvfsql.bind.flink.beyond import NOWHERE, noting
from tvfsql.errors import OptionError, Span, TvfSqlError, did_you_mean
from tvfsql.lint.rules import OF_SCRIPTS, OF_STATEMENTS, Finding
from tvfsql.lint.walk import Seen
from tvfsql.syntax.parser import parse

BEYOND = "beyond-flink"
COMPILER = "compiler-warning"  # what the compiler itself warns of
RULES = tuple(sorted({*OF_STATEMENTS, *OF_SCRIPTS, COMPILER}))
_IGNORE = re.compile(r"--[ \t]*lint:[ \t]*ignore[ \t]+([\w, \t-]+)")


@dataclass(frozen=True)
class Warned:
    """A warning about a script: the name of its rule, and a place with a message and a hint."""

    rule: str
    message: str
    hint: str | None
    span: Span
    line: int  # from 1
    column: int

    def shown(self, sql: str, file: str | None) -> str:
        """As text with a caret."""
        error = TvfSqlError(f"{self.message} [{self.rule}]", span=self.span, hint=self.hint)
        return "warning" + str(error.within(sql, file)).removeprefix("error")


def lint_script(sql: str, script: Script, file: str | None = None, ignore: Collection[str] = ()) -> list[Warned]:
    """The warnings about a script, in the order of their places. Executes its statements in `script`, without Spark.

    `ignore`: the rules that are silent. Raises TvfSqlError for a script that does not compile.
    """
    return linted(sql, script, file, ignore)[0]


def linted(
    sql: str, script: Script, file: str | None = None, ignore: Collection[str] = ()
) -> tuple[list[Warned], list[Outcome]]:
    """The same, and the outcomes of the statements."""
    databases = script.databases
    filled = script.filled(sql, file)
    with noting() as notes:
        outcomes = [*script.outcomes(sql, file)]
    seen = Seen(script, parse(filled.text, databases), filled.text)
    found: list[tuple[str, Finding]] = []
    for statement, outcome in zip(seen.statements, outcomes, strict=True):
        told = [line for query in queries_of(outcome) for line in query.warnings]
        found += [(COMPILER, Finding(line, statement.span)) for line in told]
        found += [(name, each) for name, rule in OF_STATEMENTS.items() for each in rule(statement, seen)]
    end = len(filled.text)
    found += [(COMPILER, Finding(line, Span(end, end))) for line in script.take_warnings()]
    found += [(name, each) for name, rule in OF_SCRIPTS.items() for each in rule(seen)]
    placed = ((span, message, hint) for (span, message), hint in notes.items() if span != NOWHERE)
    found += [(BEYOND, Finding(message, span, hint)) for span, message, hint in placed]
    silent = {*_silenced(sql)}
    found = [(name, replace(each, span=filled.original(each.span))) for name, each in found if name not in ignore]
    warnings = {_warned(name, each, sql): None for name, each in found}
    kept = [each for each in warnings if (each.rule, each.line) not in silent]
    return sorted(kept, key=lambda each: (each.line, each.column, each.rule)), outcomes


def _warned(rule: str, found: Finding, sql: str) -> Warned:
    line = sql.count("\n", 0, found.span.start) + 1
    column = found.span.start - (sql.rfind("\n", 0, found.span.start) + 1) + 1
    return Warned(rule, found.message, found.hint, found.span, line, column)


def _silenced(sql: str) -> Iterator[tuple[str, int]]:
    """(rule, line) of what comments silence: on their own line, and on the next one."""
    for comment in _IGNORE.finditer(sql):
        line = sql.count("\n", 0, comment.start()) + 1
        for rule in re.split(r"[,\s]+", comment[1].strip()):
            yield rule, line
            yield rule, line + 1


# `tvfsql lint`: the warnings of several scripts, as text or JSON.


FORMATS = ("text", "json")


def run_lint(
    scripts: Iterable[tuple[str, str | None, str]], script: Script, ignore: Collection[str], form: str, out: TextIO
) -> int:
    """Print the warnings of scripts (text, name, folder), each of which follows `script` alone. Returns their number.

    `form` is one of FORMATS: text has a caret for each, JSON is a list of objects. Raises OptionError for an unknown
    rule in `ignore`.
    """
    for rule in ignore:
        if rule not in RULES:
            raise OptionError(f"there is no rule {rule}", hint=did_you_mean(rule, RULES))
    found = []
    for sql, name, folder in scripts:
        parameters = replace(script.parameters, declared={**script.parameters.declared})
        own = replace(script, catalog=script.catalog.copy(), parameters=parameters, folder=folder)
        for each in lint_script(sql, own, name, ignore):
            place = {"file": name, "line": each.line, "column": each.column}
            found.append(place | {"rule": each.rule, "message": each.message, "hint": each.hint})
            if form == "text":
                print(each.shown(sql, name), file=out)
    if form == "json":
        print(json.dumps(found, indent=2, ensure_ascii=False), file=out)
    return len(found)
