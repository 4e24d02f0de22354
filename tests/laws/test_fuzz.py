"""Whatever is typed, the answer is a program or a TvfSqlError."""

from __future__ import annotations

import os
import shutil
from itertools import islice
from pathlib import Path

import pytest

from tests.support.changed_files import changed_files, outside
from tests.support.fuzz import STATEMENTS, fault, fault_of_statements, mutants, seeds

MUTANTS = 2000 // int(os.environ.get("TVFSQL_EXAMPLES_ONE_IN", "1"))


@pytest.mark.parametrize("part", range(4))
def test_mutants_of_scripts_are_refused_or_make_programs(part: int) -> None:
    for i, sql in enumerate(islice(mutants(seeds(), part), MUTANTS // 4)):
        assert fault(sql, ("batch", "streaming")[i % 2]) is None, sql


@pytest.mark.parametrize("part", range(2))
def test_mutants_of_statements_change_no_file_outside_the_warehouse(part: int, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("1\n")
    for sql in (*STATEMENTS, *islice(mutants([*STATEMENTS], part), MUTANTS // 4)):
        assert fault_of_statements(sql, tmp_path) is None, sql
    assert precious.read_text() == "1\n"


def test_statements_make_and_delete_files_in_the_warehouse(tmp_path: Path) -> None:
    with changed_files() as changed:
        for sql in STATEMENTS:
            assert fault_of_statements(sql, tmp_path) is None
    assert len([each for each in changed if "/wh/" in each]) > 20


def test_every_change_of_a_file_is_seen(tmp_path: Path) -> None:
    folder, file = tmp_path / "made", tmp_path / "made" / "x"
    with changed_files() as changed:
        folder.mkdir()
        file.write_text("1")
        file.rename(folder / "y")
        shutil.rmtree(folder)
        Path(tmp_path, "read").exists()
    assert changed[:2] == [str(folder), str(file)]
    assert {str(folder / "y"), str(folder)} <= {*changed[2:]}
    assert outside(changed, tmp_path) == []
    assert outside(changed, folder / "other") == changed
