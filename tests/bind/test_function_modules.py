"""CREATE FUNCTION loads the module next to its script, although Python imports only one module per name."""

from pathlib import Path

import pytest

from tvfsql import Session
from tvfsql.bind.function import bind_function
from tvfsql.errors import BindError
from tvfsql.syntax.ast import Name
from tvfsql.syntax.statements import CreateFunction

CODE = "def twice(value: int) -> int:\n    return value * {factor}\n"


def test_a_module_that_an_equal_script_elsewhere_imported_is_found_by_workers(tmp_path: Path) -> None:
    first, second = (_folder(tmp_path / name, "of_copies", 2) for name in ("first", "second"))
    create = CreateFunction(Name("twice"), "of_copies.twice", "PYTHON")
    assert bind_function(create, first).folder == first
    assert bind_function(create, second).folder == first  # the folder that it was imported from


def test_another_module_of_the_same_name_is_refused(tmp_path: Path) -> None:
    first, second = (_folder(tmp_path / name, "of_others", n) for n, name in enumerate(("first", "second")))
    session = Session()
    session.script.folder = first
    session.execute("CREATE FUNCTION twice AS 'of_others.twice' LANGUAGE PYTHON")
    session.script.folder = second
    with pytest.raises(BindError, match=f"already imported another module of_others, from {first}/of_others.py"):
        session.execute("CREATE FUNCTION thrice AS 'of_others.twice' LANGUAGE PYTHON")


def _folder(folder: Path, module: str, factor: int) -> str:
    folder.mkdir()
    (folder / f"{module}.py").write_text(CODE.format(factor=factor), encoding="utf-8")
    return str(folder)
