"""Commands for those who write scripts: init, fmt, lint, test, rewrite, package."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from tvfsql.cli.output import Exit
from tvfsql.cli.scripts import planning_session, scripts_of, statements_of
from tvfsql.errors import DataError, TvfSqlError
from tvfsql.syntax.layout import format_script


def init(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:

    for path in new_project(given.folder):
        print(path)
    start = "" if given.folder == "." else f"cd {given.folder}; "
    print(f"now: {start}tvfsql run totals.sql; tvfsql test", file=sys.stderr)
    return Exit.OK


def fmt(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:

    formatted = format_files(given.files, given.check, sys.stdout)
    return Exit.ERROR if given.check and not formatted else Exit.OK


def lint(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.lint import run_lint

    session = planning_session(given)
    count = run_lint(scripts_of(given, parser), session.script, given.ignore or (), given.format, sys.stdout)
    return Exit.ERROR if given.strict and count else Exit.OK


def test(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.testing.command import run_tests

    return run_tests(given.paths, given.only, given.update, sys.stdout)


def rewrite(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.syntax.rewrite import rewrite as rewritten

    for sql, name, _ in scripts_of(given, parser):
        text = rewritten(sql, name)
        print(text, end="" if text.endswith("\n") else "\n")
    return Exit.OK


def package(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from importlib import metadata

    from tvfsql.api.package import write_package

    spark = ".".join(metadata.version("pyspark").split(".")[:2])
    for file in write_package(given.output, statements_of(given, parser), given.checkpoint, spark):
        print(file)
    return Exit.OK


# `tvfsql fmt`: scripts in the standard layout, in place.


def format_files(files: Sequence[str], check: bool, out: TextIO) -> bool:
    """Format scripts in place, and `-` from stdin to `out`. Returns whether all were formatted before.

    `check`: only name the scripts that are not. A script with an error is left alone; after the last one the first
    error is raised.
    """
    errors: list[TvfSqlError] = []
    changed = 0
    for file in files:
        try:
            changed += _format(file, check, out)
        except TvfSqlError as error:
            errors.append(error)
    for each in errors[1:]:
        print(each, file=sys.stderr)
    if errors:
        raise errors[0]
    return not changed


def _format(file: str, check: bool, out: TextIO) -> bool:
    """Format one script. Returns whether it changed."""
    before = sys.stdin.read() if file == "-" else _read(file)
    after = format_script(before, None if file == "-" else file)
    if file == "-" and not check:
        out.write(after)
        return False
    if before != after:
        if not check:
            _replace(Path(file).resolve(), after)
        print(f"{'not formatted' if check else 'formatted'}: {file}", file=sys.stderr)
    return before != after


def _read(file: str) -> str:
    try:
        return Path(file).read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise DataError(f"the script {file} cannot be read: {reason}") from error


def _replace(path: Path, text: str) -> None:
    """Write a file as a whole or not at all, with the permissions that it has."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode())
                os.fchmod(file.fileno(), path.stat().st_mode & 0o7777)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}") from error


# What `tvfsql init` makes: a script over a small table, its data, and a test for `tvfsql test`.


FILES = {
    "totals.sql": """\
-- Totals of ten minutes: tvfsql run totals.sql
CREATE TABLE bid (
    bidtime TIMESTAMP(3),
    price   DECIMAL(10, 2),
    item    STRING,
    WATERMARK FOR bidtime AS bidtime - INTERVAL '1' SECOND
) WITH (
    'connector' = 'filesystem',
    'path' = 'data/bids.csv',  -- beside this script
    'format' = 'csv'
);

SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item
ORDER BY window_start, item;
""",
    "totals.tvfsql.yaml": """\
# Run it with tvfsql test, or with pytest.
script: totals.sql
mode: batch
tests:
  - name: a row at the end of a window is in the next one
    steps:
      - rows:
          bid:
            - {bidtime: 2020-04-15 08:00:00, price: 4, item: A}
            - {bidtime: 2020-04-15 08:09:59.999, price: 2, item: A}
            - {bidtime: 2020-04-15 08:10:00, price: 3, item: A}
            - {bidtime: 2020-04-15 08:11:00, price: 5, item: B}
        expect:
          - {window_end: 2020-04-15 08:10:00, item: A, total: 6}
          - {window_end: 2020-04-15 08:20:00, item: A, total: 3}
          - {window_end: 2020-04-15 08:20:00, item: B, total: 5}
""",
    "data/bids.csv": """\
2020-04-15 08:05:00,4.00,A
2020-04-15 08:07:00,2.00,A
2020-04-15 08:09:00,5.00,B
2020-04-15 08:11:00,3.00,A
2020-04-15 08:13:00,1.00,B
2020-04-15 08:17:00,6.00,B
""",
}


def new_project(folder: str) -> list[Path]:
    """Write the files, and return them. Raises DataError if one exists, before any is written."""
    targets = {Path(folder, name): text for name, text in FILES.items()}
    for target in targets:
        if target.exists():
            raise DataError(f"{target} exists", hint="tvfsql init another_folder")
    try:
        for target, text in targets.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"{target} cannot be written: {error.strerror}") from error
    return [*targets]
