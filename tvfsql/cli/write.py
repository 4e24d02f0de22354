"""Commands for those who write scripts: init, fmt, lint, test, rewrite, package, lsp."""

from __future__ import annotations

import argparse
import os
import sys

from tvfsql.cli.output import Exit
from tvfsql.cli.scripts import planning_session, scripts_of, statements_of
from tvfsql.errors import DataError


def init(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.cli.new_project import new_project, script_over_file
    from tvfsql.runtime.batch.inferred_columns import format_of

    form = format_of(given.folder)
    if form is not None and not os.path.isdir(given.folder):
        script, note = script_over_file(given.folder, form)
        print(script)
        if note:
            print(f"warning: {note}", file=sys.stderr)
        print(f"now: tvfsql run {script}", file=sys.stderr)
        return Exit.OK
    for path in new_project(given.folder):
        print(path)
    start = "" if given.folder == "." else f"cd {given.folder}; "
    print(f"now: {start}tvfsql run totals.sql; tvfsql test", file=sys.stderr)
    return Exit.OK


def fmt(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.cli.format_files import format_files

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


def lsp(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    try:
        from tvfsql.language_server.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise DataError("the language server needs a Python package", hint="pip install 'tvfsql[lsp]'") from None
    init = tuple(given.init or ())
    serve(lambda files: planning_session(argparse.Namespace(**{**vars(given), "init": files})), init)
    return Exit.OK


def rewrite(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.syntax.rewrite import rewrite as rewritten

    for sql, name, _ in scripts_of(given, parser):
        text = rewritten(sql, name)
        print(text, end="" if text.endswith("\n") else "\n")
    return Exit.OK


def package(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from importlib import metadata

    from tvfsql.api.targets.package import write_package

    spark = ".".join(metadata.version("pyspark").split(".")[:2])
    for file in write_package(given.output, statements_of(given, parser), given.checkpoint, spark):
        print(file)
    return Exit.OK
