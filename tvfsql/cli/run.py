"""`tvfsql run`, and `tvfsql explain --analyze`, which runs queries too."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tvfsql.cli.background.start import detach
from tvfsql.cli.output import Exit, Output
from tvfsql.cli.scripts import open_session, scripts_of
from tvfsql.errors import DataError, TvfSqlError
from tvfsql.options.known import ZONE
from tvfsql.syntax.explain_words import ANALYZE_FORMATS, PLAN

if TYPE_CHECKING:
    from tvfsql.api import Compiled, Session
    from tvfsql.runtime.local_spark.early import EarlyStart


def run(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    if given.detach:
        return detach(given, given.arguments)
    interrupts = _record_interrupts()
    early = _start_early(given)
    try:
        session = open_session(given)
        session.own.early = early
        return _run_in(session, given, parser)
    except Exception:
        if interrupts:  # Python raises a RuntimeError if the signal arrives while it makes a class
            raise KeyboardInterrupt from None
        raise
    finally:
        if early is not None:
            early.abandon()


def _record_interrupts() -> list[int]:
    """Make SIGTERM stop a run as cleanly as Ctrl-C. Returns a list to which both signals add their numbers."""
    arrived: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        arrived.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where the shell ignores it: nohup, `&`
        signal.signal(signal.SIGINT, interrupt)
    return arrived


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
    with _live_page(session, given) as show, Output(given.output) as out:
        answers = Answers(session, given.format, out)
        for sql, name, folder in scripts_of(given, parser):
            session.script.folder = folder
            for outcome in session.script.outcomes(sql, name):
                show(queries_of(outcome))
                answers.give(outcome)
    tell_rest(session.script)
    return Exit.OK


@contextmanager
def _live_page(session: Session, given: argparse.Namespace) -> Iterator[Callable[[Sequence[Compiled]], None]]:
    """With --ui, serve the page of the streams that run, and print its address. Yields a function that adds queries to
    it. The page learns how the run ends.
    """
    if not given.ui:
        yield lambda queries: None
        return
    from tvfsql.api.live_page import LivePage, serve

    streams = session.streams
    active, zone = lambda: any(run.active for run in streams.runs), lambda: session.options[ZONE]
    page = LivePage(active, streams.programs.get, zone)
    page.script = ", ".join(Path(file).name for file in given.files) or "-e"
    page.checkpoint = given.checkpoint or ""
    streams.reports.append(page.take)
    print(f"page: {serve(page)}", file=sys.stderr)
    failure = ""
    try:
        yield page.add
    except TvfSqlError as error:
        failure = str(error)
        raise
    finally:
        page.close(failure)


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


def analyze(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Run each SELECT of the scripts and print its figures."""
    from tvfsql.answers import Answers
    from tvfsql.api import Compiled
    from tvfsql.api.script import Analyze

    if given.stage != PLAN or given.format not in ANALYZE_FORMATS:
        parser.error(f"--analyze takes no --stage, and --format {' or '.join(ANALYZE_FORMATS)}")
    session = open_session(given)
    answers = Answers(session)
    for sql, name, folder in scripts_of(given, parser):
        session.script.folder = folder
        for outcome in session.script.outcomes(sql, name):
            if isinstance(outcome, Compiled) and outcome.sink is None:
                answers.give(Analyze(outcome, given.format))
    return Exit.OK
