"""`tvfsql ps`, `stop`, `restart` and `logs`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import astuple, fields
from pathlib import Path

from tvfsql.cli.background.figures import Figures, figures_of
from tvfsql.cli.background.known import known, named
from tvfsql.cli.background.runs import LOG, is_alive, run_in
from tvfsql.cli.background.start import start
from tvfsql.cli.output import Exit
from tvfsql.errors import DataError
from tvfsql.runtime.host.amounts import duration_text
from tvfsql.runtime.host.row_formats import write_rows
from tvfsql.runtime.host.status_line import working

EVERY = 0.2  # seconds between two looks
FOR_PEOPLE = ("table", "markdown", "vertical")
TITLES = ("name", "state", "uptime", "micro-batch", "rows/s", "lag", "late rows", "checkpoint")
TEXTS = ("string", "string", "string", "string", "string", "string", "bigint", "string")
TYPES = ("string", "string", "double", "bigint", "double", "double", "double", "bigint", "string")


def ps(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Print a row for each checkpoint, or for those of this user."""
    for each in given.checkpoints:
        if not Path(each).is_dir():
            raise DataError(f"there is no folder {each}", hint="the folder of tvfsql run --checkpoint")
    checkpoints = [Path(each).resolve() for each in given.checkpoints] or known()
    found = [figures_of(checkpoint, time.time()) for checkpoint in checkpoints]
    if given.format in FOR_PEOPLE:
        write_rows(TITLES, TEXTS, map(_shown, found), given.format, sys.stdout)
    else:
        write_rows([field.name for field in fields(Figures)], TYPES, map(astuple, found), given.format, sys.stdout)
    return Exit.OK


def _shown(each: Figures) -> tuple[object, ...]:
    def seconds(number: float | None) -> str:
        return "" if number is None else duration_text(round(number * 1000))

    speed = "" if each.rows_per_second is None else f"{each.rows_per_second:,.0f}"
    batch = "" if each.micro_batch is None else f"{each.micro_batch:,}"
    batch += "" if each.micro_batch_seconds is None else f" for {seconds(each.micro_batch_seconds)}"
    uptime, lag = seconds(each.uptime), seconds(each.lag)
    return each.name, each.state, uptime, batch, speed, lag, each.late_rows, each.checkpoint


def stop(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    for checkpoint in [named(name) for name in given.names]:
        if is_alive(checkpoint):
            _stop(checkpoint, given.timeout, now=given.now)
            print(f"stopped {checkpoint.name}")
        else:
            print(f"{checkpoint.name} does not run", file=sys.stderr)
    return Exit.OK


def restart(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Start the last run of each checkpoint again, with its arguments and in its folder."""
    codes = []
    for checkpoint in [named(name) for name in given.names]:
        run = run_in(checkpoint)
        if run is None:
            raise DataError(f"{checkpoint / 'run.json'} cannot be read", hint="tvfsql run --detach --checkpoint ...")
        if is_alive(checkpoint):
            _stop(checkpoint, given.timeout, now=False)
        codes.append(start(checkpoint, run.folder, run.arguments))
    return max(codes)


def _stop(checkpoint: Path, timeout: float, *, now: bool) -> None:
    """Stop a run after its micro-batch, or `now`. Raises DataError if it has not ended after `timeout` seconds."""
    run = run_in(checkpoint)
    if run is None:
        raise DataError(f"{checkpoint} does not say which process runs", hint="try again: it may have just started")
    _ask(run.pid)
    until, again = time.monotonic() + timeout, now
    with working(f"stopping {checkpoint.name} after its micro-batch"):
        while is_alive(checkpoint):
            if again:
                time.sleep(EVERY)
                again = False
                _ask(run.pid)
            if time.monotonic() > until:
                problem = (
                    f"process {run.pid} of {checkpoint.name} has not ended its micro-batch after {timeout:g} seconds"
                )
                raise DataError(problem, hint=f"tvfsql stop --now {checkpoint.name}; the next run repeats it")
            time.sleep(EVERY)


def _ask(process: int) -> None:
    with suppress(ProcessLookupError):  # it has just ended
        os.kill(process, signal.SIGTERM)


def logs(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Print the last lines of the log of a run, and with -f those that come until it ends."""
    checkpoint = named(given.name)
    try:
        with (checkpoint / LOG).open(encoding="utf-8", errors="replace") as log:
            lines = log.readlines()
            sys.stdout.writelines(lines[-given.n :] if given.n else ())
            if given.follow:
                sys.stdout.writelines(_added(log, checkpoint))
    except OSError as error:
        raise DataError(f"{checkpoint / LOG} cannot be read: {error.strerror}") from error
    if (run := run_in(checkpoint)) is not None and run.code is None and not is_alive(checkpoint):
        print(f"{checkpoint.name} was killed; tvfsql restart {checkpoint.name} goes on", file=sys.stderr)
    return Exit.OK


def _added(log: Iterator[str], checkpoint: Path) -> Iterator[str]:
    lives = True
    while lives:
        lives = is_alive(checkpoint)
        yield from log
        sys.stdout.flush()
        time.sleep(EVERY)
