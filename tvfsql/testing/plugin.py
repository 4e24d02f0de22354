"""A pytest plugin that collects `*.tvfsql.yaml` files as tests. It loads nothing else until there is such a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tvfsql.testing.run import SharedSpark
    from tvfsql.testing.suite import Case, Suite

SUFFIXES = (".tvfsql.yaml", ".tvfsql.yml")


class Failed(Exception):
    """A test with unexpected rows."""


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "write the rows that tvfsql tests emit into their files as the expected ones"
    parser.getgroup("tvfsql").addoption("--tvfsql-update", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "tvfsql: a test of a *.tvfsql.yaml file")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.File | None:
    return SuiteFile.from_parent(parent, path=file_path) if file_path.name.endswith(SUFFIXES) else None


class SuiteFile(pytest.File):
    """A test file."""

    def collect(self) -> Iterator[pytest.Item]:
        from tvfsql.errors import TvfSqlError
        from tvfsql.testing.read import read_suite

        try:
            suite = read_suite(self.path)
        except TvfSqlError as error:
            raise self.CollectError(str(error)) from error
        for case in suite.cases:
            yield CaseItem.from_parent(self, name=case.name, suite=suite, case=case)


class CaseItem(pytest.Item):
    """A test."""

    def __init__(self, *, suite: Suite, case: Case, **others: Any) -> None:
        super().__init__(**others)
        self.suite, self.case = suite, case
        self.add_marker("tvfsql")

    def runtest(self) -> None:
        from tvfsql.testing.run import run_case

        result = run_case(self.suite, self.case, _spark(self.config).get())
        if self.config.getoption("--tvfsql-update") and result.error is None and not result.passed:
            from tvfsql.testing.read import read_suite
            from tvfsql.testing.update import updated

            # an earlier test may have changed the file
            now = read_suite(self.path)
            case = next(case for case in now.cases if case.name == self.case.name)
            again = run_case(now, case, _spark(self.config).get())
            self.path.write_text(updated(now, [again]), encoding="utf-8")
        elif not result.passed:
            raise Failed("\n".join(result.lines()))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        return str(excinfo.value) if isinstance(excinfo.value, Failed) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.suite.line(self.case.span) - 1, self.name


_OWN = pytest.StashKey["SharedSpark"]()


def _spark(config: pytest.Config) -> SharedSpark:
    """The Spark that all tests share; a Spark that already runs in this process is used."""
    from tvfsql.testing.run import SharedSpark

    if _OWN not in config.stash:
        config.stash[_OWN] = SharedSpark()
        config.add_cleanup(config.stash[_OWN].stop)
    return config.stash[_OWN]
