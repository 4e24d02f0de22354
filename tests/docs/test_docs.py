"""What the documentation shows is tried: its SQL compiles and gives the rows below it, its commands can be given."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import aggregates_page, functions_page, rules_page
from tests.support.examples import SOAK
from tests.support.pages import MODES, ROOT, Block, blocks, commands
from tests.support.small_spark import environment
from tvfsql import Session, TvfSqlError
from tvfsql.api import Compiled
from tvfsql.api.script import Outcome
from tvfsql.cli import main
from tvfsql.cli.arguments import build_parser

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ENVIRONMENT = environment() | {"PYTHONPATH": str(ROOT)}
SQL = blocks("sql")
PAGES = {block.page for block in SQL} - {"docs/cookbook.md"}  # its recipes are those of the other pages
FIRST = {block.page: block for block in reversed(SQL) if block.page in PAGES and block.rows and len(block.shown) > 1}
# in `make test` a block for both modes runs in batch, and the first one of a page on streams too; `make soak` has all
SHOWN = [
    (block, mode)
    for block in SQL
    if block.rows
    for mode in block.shown
    if SOAK or mode == block.shown[0] or block is FIRST.get(block.page)
]
COMPILING = ("run", "explain", "compile", "package", "check", "lint")
COMMANDS = [
    (str(block), words)
    for block in blocks("")
    if "FILE..." not in block.text  # that is a synopsis
    for words in commands(block)
]


def test_the_page_of_the_rules_is_what_their_docstrings_say() -> None:
    assert rules_page.PAGE.read_text(encoding="utf-8") == rules_page.page(), "python -m tests.support.rules_page"


def test_the_page_of_functions_is_what_their_table_says() -> None:
    assert functions_page.PAGE.read_text(encoding="utf-8") == functions_page.page(), "make golden"


def test_the_table_of_aggregates_is_what_their_rows_say() -> None:
    assert aggregates_page.PAGE.read_text(encoding="utf-8") == aggregates_page.page(), "make golden"


@pytest.fixture(autouse=True)
def modules_of_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The modules that pages write, and their folders, are forgotten: an example may have one of the same name."""
    before, folder = [*sys.path], str(tmp_path_factory.getbasetemp())
    yield
    sys.path[:] = before
    for name, module in [*sys.modules.items()]:
        if (getattr(module, "__file__", None) or "").startswith(folder):
            del sys.modules[name]


@pytest.mark.parametrize("block", SQL, ids=str)
def test_sql_compiles_in_the_modes_that_it_is_for(block: Block, tmp_path: Path) -> None:
    for mode in MODES:
        session = with_tables(block, Session(mode=mode), tmp_path)
        if mode in block.modes:
            assert outcomes(session, block)
        else:  # a fragment is for none
            with pytest.raises(TvfSqlError):
                outcomes(session, block)


@pytest.mark.parametrize(("place", "words"), COMMANDS)
def test_commands_are_such_as_can_be_given(
    place: str, words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their arguments are valid, and their scripts compile in the mode that they ask for."""
    command, *arguments = words
    if command == "make":
        targets = [word for word in arguments if "=" not in word]
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets), place
        return
    given = build_parser().parse_args(arguments)
    for file in (*getattr(given, "files", ()), *(given.init or ())):
        assert file == "-" or (ROOT / file).exists(), f"{place}: {file}"
    of_spark = any("shop.orders" in sql for sql in getattr(given, "sql", None) or ())  # a table of Spark's catalogs
    if given.command in COMPILING and not of_spark and "-" not in given.files:
        monkeypatch.chdir(ROOT)
        assert main([*as_check(given)]) == 0, f"{place}: {capsys.readouterr().err}"


def as_check(given: argparse.Namespace) -> Iterator[str]:
    """The arguments of `check` for the scripts of another command."""
    yield "check"
    modes = [given.mode] if given.mode else []
    for option, values in (
        ("--mode", modes),
        ("-i", given.init),
        ("-e", given.sql),
        ("--set", given.set),
        ("--param", given.param),
    ):
        for value in values or ():
            yield from (option, value)
    yield from given.files


def test_python_is_python() -> None:
    for block in blocks("python"):
        compile(block.text, str(block), "exec")


def test_the_program_that_the_readme_shows_is_part_of_what_its_query_compiles_to() -> None:
    query, *_ = (block for block in SQL if block.page == "README.md")
    shown, *_ = (block for block in blocks("python") if block.page == "README.md")
    session = Session(mode="batch")
    list(session.script.outcomes(query.tables.read_text(encoding="utf-8")))
    *_, outcome = session.script.outcomes(query.text)
    assert isinstance(outcome, Compiled)
    assert textwrap.indent(shown.text, "    ") in outcome.code


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.parametrize(("block", "mode"), SHOWN, ids=lambda value: str(value))
def test_sql_gives_the_rows_that_are_shown(block: Block, mode: str, spark: SparkSession, tmp_path: Path) -> None:
    """The rows in any order, but where ORDER BY gives one."""
    folder = shutil.copytree(block.tables.parent, tmp_path / "page")
    session = with_tables(block, Session(spark, mode=mode), folder)
    *_, result = session.execute(block.text)
    ordered = isinstance(result.outcome, Compiled) and "ORDER BY" in block.text.rpartition(")")[2]
    found, shown = result.text("table").splitlines(), block.rows.splitlines()
    assert (found if ordered else sorted(found)) == (shown if ordered else sorted(shown)), "\n".join(found)
    if mode == "streaming":
        assert session.counts["numLateRecordsDropped"] == block.late


@pytest.mark.spark
def test_the_python_of_the_readme_runs() -> None:
    """In a process of its own, as Spark takes relative paths from where it was started."""
    _, block = (block for block in blocks("python") if block.page == "README.md")
    done = subprocess.run(
        [sys.executable, "-c", block.text], cwd=ROOT / "examples", env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "== PySpark ==" in done.stdout and "120835" in done.stdout  # departures from EWR


def with_tables(block: Block, session: Session, folder: Path) -> Session:
    """The session with the page's tables, whose paths start at a folder; there are the files, too, that it shows."""
    for name, text in block.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    session.script.folder = str(folder)
    list(session.script.outcomes(block.tables.read_text(encoding="utf-8")))
    return session


def outcomes(session: Session, block: Block) -> list[Outcome]:
    return list(session.script.outcomes(block.text, str(block)))
