"""The scripts of a command, the session in which they run, and the outcome of each statement."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tvfsql.errors import DataError
from tvfsql.named_files import read_text

if TYPE_CHECKING:
    from tvfsql.api import Compiled, Session
    from tvfsql.api.script import Outcome


def open_session(given: argparse.Namespace) -> Session:
    """A session with the options of the command line, after the scripts of `-i` have run, but for their SELECTs."""
    from tvfsql.api import Compiled

    session = _session(given)
    for sql, name, folder in read_scripts(given.init or (), ()):
        session.script.folder = folder
        done = session.execute(sql, file=name)
        if any(isinstance(result.outcome, Compiled) and result.outcome.sink is None for result in done):
            session.script.notes.append(f"{name or '-'}: a SELECT in a script of -i is not run")
    return session


def planning_session(given: argparse.Namespace) -> Session:
    """The same for commands that run nothing: the scripts of `-i` only define tables, views, functions and options.
    A warning says what they leave out.
    """
    from tvfsql.answers import tell_warnings
    from tvfsql.api.script import queries_of

    session = _session(given)
    session.script.warehouse = None
    for sql, name, folder in read_scripts(given.init or (), ()):
        session.script.folder = folder
        left_out = set()
        for outcome in session.script.outcomes(sql, name):
            queries = queries_of(outcome)
            tell_warnings(queries)
            left_out |= {"a SELECT" if query.sink is None else "an INSERT" for query in queries}
        for what in sorted(left_out):
            print(f"warning: {name or '-'}: {what} in a script of -i is not run", file=sys.stderr)
    return session


def _session(given: argparse.Namespace) -> Session:
    """A session with the options of the command line."""
    from tvfsql.api import Session

    options = {}
    for key in ("master", "remote"):
        if url := getattr(given, key, None):
            options[f"spark.{key}"] = url
    for pair in (*(getattr(given, "conf", None) or ()), *(getattr(given, "set", None) or ())):
        key, _, value = pair.partition("=")
        options[key.strip()] = value.strip()
    of_stream = given.command not in ("state", "rescale", "doctor", "package")
    checkpoint = getattr(given, "checkpoint", None) if of_stream else None
    session = Session(
        mode=given.mode,
        options=options,
        checkpoint=checkpoint,
        final=True if getattr(given, "final", False) else None,
        allow_changed_input=getattr(given, "allow_changed_input", False),
        start_mode=getattr(given, "start_mode", None),
        openlineage=getattr(given, "openlineage", None),
    )
    session.script.parameters.given = _parameters(given)
    if not sys.stderr.isatty():  # a terminal has the progress line
        session.own.tell_start = lambda master: print(f"starting Spark on {master}", file=sys.stderr)
    return session


def scripts_of(given: argparse.Namespace, parser: argparse.ArgumentParser) -> list[tuple[str, str | None, str]]:
    """(text, name, folder) of each script of a command."""
    texts = given.sql or ()
    if not given.files and not texts:
        parser.error(f"{given.command} needs a FILE, -e SQL, or - for stdin")
    scripts = list(read_scripts(given.files, texts))
    if values := _parameters(given):
        from tvfsql.syntax.parameters import names_declared, refuse_unknown

        before = read_scripts([file for file in given.init or () if file != "-"], ())
        refuse_unknown(values, [name for sql, *_ in (*before, *scripts) for name in names_declared(sql)])
    return scripts


def _parameters(given: argparse.Namespace) -> dict[str, str]:
    """The values of --param, by name."""
    pairs = (pair.partition("=") for pair in getattr(given, "param", None) or ())
    return {name.strip(): value for name, _, value in pairs}


def read_scripts(files: Sequence[str], texts: Sequence[str]) -> Iterator[tuple[str, str | None, str]]:
    """(text, name, folder) of each script."""
    for file in files:
        if file == "-":
            yield sys.stdin.read(), None, ""
            continue
        yield read_text(file), file, os.path.dirname(file)
    for text in texts:
        yield text, None, ""


def outcomes_in(session: Session, given: argparse.Namespace, parser: argparse.ArgumentParser) -> list[Outcome]:
    """The outcome of every statement of the scripts in a session that runs nothing. Prints warnings to stderr."""
    from tvfsql.answers import tell_rest, tell_warnings
    from tvfsql.api.script import queries_of

    outcomes: list[Outcome] = []
    for sql, name, folder in scripts_of(given, parser):
        session.script.folder = folder
        for outcome in session.script.outcomes(sql, name):
            outcomes.append(outcome)
            tell_warnings(queries_of(outcome))
    tell_rest(session.script)
    return outcomes


def statements_of(given: argparse.Namespace, parser: argparse.ArgumentParser) -> list[tuple[Compiled, ...]]:
    """The queries of each statement that has any. Raises DataError if none has."""
    from tvfsql.api.script import queries_of

    outcomes = outcomes_in(planning_session(given), given, parser)
    statements = [queries for outcome in outcomes if (queries := queries_of(outcome))]
    if not statements:
        raise DataError("the script has no query", hint="add a SELECT or an INSERT")
    return statements
