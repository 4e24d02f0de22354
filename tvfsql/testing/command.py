"""`tvfsql test`: finds test files, runs them over one Spark, and reports differences."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import TextIO

from tvfsql.errors import DataError, TvfSqlError
from tvfsql.named_files import nearest_file
from tvfsql.testing.read import read_suite
from tvfsql.testing.run import CaseResult, SharedSpark, run_case
from tvfsql.testing.suite import SUFFIXES, Suite
from tvfsql.testing.update import updated


class TestExit(IntEnum):
    """Exit codes, the same as those of pytest."""

    OK = 0
    FAILED = 1
    USAGE = 4
    NO_TESTS = 5


def test_files(paths: Sequence[str]) -> list[Path]:
    """Return the test files among the paths and below folders. Raises DataError for a path that does not exist."""
    found: dict[Path, None] = {}
    for path in map(Path, paths or ["."]):
        if path.is_dir():
            found |= dict.fromkeys(sorted(file for file in path.rglob("*") if file.name.endswith(SUFFIXES)))
        elif path.exists():
            found[path] = None
        else:
            close = nearest_file(str(path))
            raise DataError(f"there is no file {path}", hint=f"did you mean {close}?" if close else None)
    return [*found]


def run_tests(paths: Sequence[str], only: str | None, update: bool, out: TextIO) -> int:
    """Run tests and write their outcomes. `only`: run the tests whose names contain this text. Returns the exit
    code.
    """
    began = time.monotonic()
    try:
        suites = [read_suite(file) for file in test_files(paths)]
    except TvfSqlError as error:
        print(error, file=sys.stderr)
        return TestExit.USAGE
    own, results = SharedSpark(), list[CaseResult]()
    try:
        for suite in suites:
            done = [*_results(suite, only, own, out, "new " if update else "FAIL")]
            results += done
            if update:
                _rewrite(suite, done, out)
    finally:
        own.stop()
    differ = sum(not result.passed for result in results)
    failed = sum(result.error is not None for result in results) if update else differ
    now_new = f"{differ - failed} updated, " if update else ""
    seconds = time.monotonic() - began
    out.write(f"{len(results) - differ} passed, {now_new}{failed} failed in {seconds:.1f} s\n")
    if not results:
        places = ", ".join(paths) or "this folder"
        why = f"no test has {only} in its name" if suites else f"there is no test file *.tvfsql.yaml in {places}"
        print(why, file=sys.stderr)
        return TestExit.NO_TESTS
    return TestExit.FAILED if failed else TestExit.OK


def _results(suite: Suite, only: str | None, own: SharedSpark, out: TextIO, differs: str) -> Iterator[CaseResult]:
    """Run the tests of a file and write their outcomes. `differs`: the word for a test with other rows."""
    for case in suite.cases:
        if only is not None and only.lower() not in case.name.lower():
            continue
        result = run_case(suite, case, own.get())
        word = "ok  " if result.passed else "FAIL" if result.error else differs
        out.write(f"{word} {suite.file}: {case.name}\n")
        out.writelines(f"     {line}\n" for text in result.lines() for line in text.splitlines())
        out.flush()
        yield result


def _rewrite(suite: Suite, results: Sequence[CaseResult], out: TextIO) -> None:
    text = updated(suite, results)
    if text != suite.text:
        suite.file.write_text(text, encoding="utf-8")
        out.write(f"updated {suite.file}\n")
