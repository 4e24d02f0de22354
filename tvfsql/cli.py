"""The command line: results on stdout, messages on stderr, and an exit code."""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from tvfsql.arguments import build_parser
from tvfsql.errors import DataError, TvfSqlError
from tvfsql.runtime.stream.inspect import STATE_TABLES
from tvfsql.syntax.explain_words import ANALYZE_FORMATS

if TYPE_CHECKING:
    from tvfsql.api import Compiled, Session
    from tvfsql.api.script import Outcome
    from tvfsql.runtime.local_spark.early import EarlyStart


class Exit(IntEnum):
    OK = 0
    ERROR = 1
    USAGE = 2
    INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Returns the exit code."""
    parser = build_parser()
    given = parser.parse_args(arguments)
    given.as_program = arguments is None
    if given.as_program:
        gc.set_threshold(50_000)  # looking through what imports make takes a tenth of a short command
    if given.version:
        print(_versions())
        return Exit.OK
    try:
        if given.command is None:
            from tvfsql.shell import run_shell

            return run_shell(_session(given))
        code = COMMANDS[given.command](given, parser)
        sys.stdout.flush()
        return code
    except TvfSqlError as error:
        print(error, file=sys.stderr)
        return Exit.ERROR
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # the reader has closed the pipe: discard the rest
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK


def _versions() -> str:
    """Versions on one line. Only reads package metadata; does not import Spark."""
    from importlib import metadata

    def version(package: str) -> str:
        try:
            return f"{package} {metadata.version(package)}"
        except metadata.PackageNotFoundError:
            return f"{package} (not installed)"

    return f"{version('tvfsql')} ({version('pyspark')}, {version('sqlglot')})"


def _session(given: argparse.Namespace) -> Session:
    """A session with the options of the command line, after the scripts of `-i` have run."""
    from tvfsql.api import Compiled, Session

    options = {}
    for key in ("master", "remote"):
        if url := getattr(given, key, None):
            options[f"spark.{key}"] = url
    for pair in (*(getattr(given, "conf", None) or ()), *(getattr(given, "set", None) or ())):
        key, _, value = pair.partition("=")
        options[key.strip()] = value.strip()
    of_stream = given.command not in ("state", "rescale", "doctor", "package")
    checkpoint = getattr(given, "checkpoint", None) if of_stream else None
    flush = not getattr(given, "no_flush", False)
    session = Session(
        mode=given.mode,
        options=options,
        checkpoint=checkpoint,
        flush=flush,
        allow_changed_input=getattr(given, "allow_changed_input", False),
        start_mode=getattr(given, "start_mode", None),
    )
    if not sys.stderr.isatty():  # a terminal has the progress line
        session.own.tell_start = lambda master: print(f"starting Spark on {master}", file=sys.stderr)
    for file in getattr(given, "init", None) or ():
        for sql, name, folder in _sources([file], ()):
            session.script.folder = folder
            done = session.execute(sql, file=name)
            if any(isinstance(result.outcome, Compiled) and result.outcome.sink is None for result in done):
                session.script.notes.append(f"{file}: a SELECT in a script of -i is not run")
    return session


def _sources(files: Sequence[str], texts: Sequence[str]) -> Iterator[tuple[str, str | None, str]]:
    """(text, name, folder) of each script."""
    for file in files:
        if file == "-":
            yield sys.stdin.read(), None, ""
            continue
        try:
            yield Path(file).read_bytes().decode(), file, os.path.dirname(file)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise DataError(f"the script {file} cannot be read: {reason}") from error
    for text in texts:
        yield text, None, ""


def _scripts(given: argparse.Namespace, parser: argparse.ArgumentParser) -> list[tuple[str, str | None, str]]:
    texts = given.sql or ()
    if not given.files and not texts:
        parser.error(f"{given.command} needs a FILE, -e SQL, or - for stdin")
    return list(_sources(given.files, texts))


def _outcomes(given: argparse.Namespace, parser: argparse.ArgumentParser) -> list[Outcome]:
    """The outcome of every statement of the scripts, without Spark. Prints warnings to stderr."""
    return _outcomes_in(_session(given), given, parser)


def _outcomes_in(session: Session, given: argparse.Namespace, parser: argparse.ArgumentParser) -> list[Outcome]:
    from tvfsql.answers import tell_rest, tell_warnings
    from tvfsql.api.script import queries_of

    session.script.warehouse = None
    outcomes: list[Outcome] = []
    for sql, name, folder in _scripts(given, parser):
        session.script.folder = folder
        for outcome in session.script.outcomes(sql, name):
            outcomes.append(outcome)
            tell_warnings(queries_of(outcome))
    tell_rest(session.script)
    return outcomes


def _run(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # SIGTERM stops as cleanly as Ctrl-C
    early = _start_early(given)
    try:
        session = _session(given)
        session.own.early = early
        return _run_in(session, given, parser)
    finally:
        if early is not None:
            early.abandon()


def _start_early(given: argparse.Namespace) -> EarlyStart | None:
    """Start Spark while the scripts are read, unless they may need another one than that of this machine."""
    files = [*(given.init or ()), *given.files]
    if not given.as_program or given.master or given.remote or given.conf or given.set or "-" in files:
        return None
    from tvfsql.runtime.local_spark.early import start_early

    try:
        scripts = [(Path(file).read_text(encoding="utf-8"), Path(file).parent) for file in files]
        return start_early([*scripts, *((sql, Path()) for sql in given.sql or ())])
    except (OSError, UnicodeDecodeError):  # reported when the file is read as a script
        return None


def _run_in(session: Session, given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.answers import Answers, tell_rest
    from tvfsql.api.script import queries_of

    _export_metrics(session, given)
    show = _live_page(session) if given.ui else None
    with _target(given.output) as out:
        answers = Answers(session, given.format, out)
        for sql, name, folder in _scripts(given, parser):
            session.script.folder = folder
            for outcome in session.script.outcomes(sql, name):
                if show is not None:
                    show(queries_of(outcome))
                answers.give(outcome)
    tell_rest(session.script)
    return Exit.OK


def _live_page(session: Session) -> Callable[[Sequence[Compiled]], None]:
    """Serve the page of the streams that run, and print its address. Returns a function that adds queries to it."""
    from tvfsql.api.live_page import LivePage, serve

    streams = session.streams
    page = LivePage(lambda: any(run.active for run in streams.runs), streams.programs.get)
    streams.reports.append(page.take)
    print(f"page: {serve(page)}", file=sys.stderr)
    return page.add


def _export_metrics(session: Session, given: argparse.Namespace) -> None:
    """Set up the export of stream metrics. Raises DataError for a file or a port that cannot be opened."""
    streams = session.streams
    if given.metrics is not None:
        from tvfsql.runtime.stream.progress.metrics import to_file

        try:
            streams.reports.append(to_file(given.metrics))
        except OSError as error:
            raise DataError(f"{given.metrics} cannot be written: {error.strerror}") from error
    if given.metrics_port is not None:
        from tvfsql.runtime.stream.progress.prometheus import LOOPBACK, serve

        port = serve(given.metrics_port, lambda: list(streams.metrics.values()))
        print(f"metrics: http://{LOOPBACK}:{port}/metrics", file=sys.stderr)


def _explain(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.api.explain import explain

    if given.analyze:
        return _analyze(given, parser)
    queries = [query for statement in _statements(given, parser) for query in statement]
    print(explain(queries, given.stage, given.format))
    return Exit.OK


def _analyze(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Run each SELECT of the scripts and print its figures."""
    from tvfsql.answers import Answers
    from tvfsql.api import Compiled
    from tvfsql.api.script import Analyze

    if given.stage != "all" or given.format not in ANALYZE_FORMATS:
        parser.error(f"--analyze takes no --stage, and --format {' or '.join(ANALYZE_FORMATS)}")
    session = _session(given)
    answers = Answers(session)
    for sql, name, folder in _scripts(given, parser):
        session.script.folder = folder
        for outcome in session.script.outcomes(sql, name):
            if isinstance(outcome, Compiled) and outcome.sink is None:
                answers.give(Analyze(outcome, given.format))
    return Exit.OK


def _compile(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.api.program import code_of

    code = code_of(_statements(given, parser))
    with _target(given.output) as out:
        out.write(code)
    return Exit.OK


def _package(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from importlib import metadata

    from tvfsql.api.package import write_package

    spark = ".".join(metadata.version("pyspark").split(".")[:2])
    for file in write_package(given.output, _statements(given, parser), given.checkpoint, spark):
        print(file)
    return Exit.OK


def _statements(given: argparse.Namespace, parser: argparse.ArgumentParser) -> list[tuple[Compiled, ...]]:
    """The queries of each statement that has any."""
    from tvfsql.api.script import queries_of

    statements = [queries for outcome in _outcomes(given, parser) if (queries := queries_of(outcome))]
    if not statements:
        raise DataError("the script has no query", hint="add a SELECT or an INSERT")
    return statements


def _check(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    session = _session(given)
    outcomes = _outcomes_in(session, given, parser)
    if session.streams.checkpoint is not None:
        from tvfsql.api.resuming import check_checkpoint

        check_checkpoint(session.streams.checkpoint, outcomes, given.allow_changed_input, sys.stdout)
    print(f"fine: {len(outcomes)} statement{'s' if len(outcomes) != 1 else ''}", file=sys.stderr)
    return Exit.OK


def _rewrite(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.syntax.rewrite import rewrite

    for sql, name, _ in _scripts(given, parser):
        text = rewrite(sql, name)
        print(text, end="" if text.endswith("\n") else "\n")
    return Exit.OK


def _fmt(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.formatting import format_files

    formatted = format_files(given.files, given.check, sys.stdout)
    return Exit.ERROR if given.check and not formatted else Exit.OK


def _lint(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.lint.command import run_lint

    session = _session(given)
    session.script.warehouse = None
    count = run_lint(_scripts(given, parser), session.script, given.ignore or (), given.format, sys.stdout)
    return Exit.ERROR if given.strict and count else Exit.OK


def _state(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.answers import APART
    from tvfsql.api.state import show_state

    if given.show == "all" and given.format not in APART:
        parser.error(f"--format {given.format} is for one table: --show {' or '.join(STATE_TABLES)}")
    tables = STATE_TABLES if given.show == "all" else (given.show,)
    session = _session(given)
    show_state(lambda: session.spark, given.checkpoint, tables, given.format, sys.stdout)
    return Exit.OK


def _rescale(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.api.state import rescale_streams

    for option, number in (("--tasks", given.tasks), ("--key-groups", given.key_groups)):
        if number is not None and number < 1:
            parser.error(f"{option} takes a number from 1 on")
    if given.tasks is None and given.key_groups is None:
        parser.error("rescale needs --tasks N, --key-groups M, or both")
    session = _session(given)
    rescale_streams(lambda: session.spark, given.checkpoint, given.tasks, given.key_groups, sys.stdout)
    return Exit.OK


def _test(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.testing.command import run_tests

    return run_tests(given.paths, given.only, given.update, sys.stdout)


def _doctor(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.runtime.cluster.asked import MASTER, REMOTE, is_local, requested
    from tvfsql.runtime.host.doctor import checks

    asked = requested(_session(given).options.spark)
    found = [*checks()]
    if REMOTE in asked or not is_local(asked.get(MASTER, "local")):
        from tvfsql.runtime.host.doctor import cluster_checks
        from tvfsql.runtime.local_spark.start import start_spark

        found += cluster_checks(start_spark(own=asked), given.checkpoint)
    width = max(len(check.name) for check in found)
    for check in found:
        print(f"{'ok  ' if check.ok else 'MISS'} {check.name:<{width}}  {check.found}")
        if check.hint and not check.ok:
            print(f"     {'':<{width}}  -> {check.hint}")
    return Exit.OK if all(check.ok for check in found) else Exit.ERROR


def _init(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.new_project import new_project

    for path in new_project(given.folder):
        print(path)
    start = "" if given.folder == "." else f"cd {given.folder}; "
    print(f"now: {start}tvfsql run totals.sql; tvfsql test", file=sys.stderr)
    return Exit.OK


def _completion(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.completion import script

    print(script(parser, given.shell), end="")
    return Exit.OK


COMMANDS = {
    "run": _run,
    "explain": _explain,
    "compile": _compile,
    "package": _package,
    "check": _check,
    "rewrite": _rewrite,
    "fmt": _fmt,
    "lint": _lint,
    "state": _state,
    "rescale": _rescale,
    "test": _test,
    "doctor": _doctor,
    "init": _init,
    "completion": _completion,
}


class _target:
    """The output file, or stdout, which stays open."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self.file: TextIO | None = None

    def __enter__(self) -> TextIO:
        if self.path is None:
            return sys.stdout
        try:
            self.file = open(self.path, "w", encoding="utf-8", newline="")
        except OSError as error:
            raise DataError(f"{self.path} cannot be written: {error.strerror}") from error
        return self.file

    def __exit__(self, *_: object) -> None:
        if self.file is not None:
            self.file.close()


if __name__ == "__main__":
    sys.exit(main())
