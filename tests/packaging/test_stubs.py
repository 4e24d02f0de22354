"""tests/stubs says of pyarrow what the installed pyarrow has: names, methods, parameters."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

STUBS = Path(__file__).parents[1] / "stubs"
FILES = sorted(STUBS.rglob("*.pyi"))


def module_of(file: Path) -> str:
    return ".".join(file.relative_to(STUBS).with_suffix("").parts).removesuffix(".__init__")


def declared(file: Path) -> Iterator[tuple[str, object, str, ast.FunctionDef | None]]:
    """Owner as a text, owner, name, and the function if it is one, of everything public in a file of stubs."""
    module = module_of(file)
    owner = importlib.import_module(module)
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            yield module, owner, node.name, node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield module, owner, node.name, None
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and hasattr(owner, node.name):
                    yield f"{module}.{node.name}", getattr(owner, node.name), part.name, part


def parameters(function: ast.FunctionDef) -> set[str]:
    return {each.arg for each in (*function.args.args, *function.args.kwonlyargs)} - {"self", "cls"}


@pytest.mark.parametrize("file", FILES, ids=module_of)
def test_what_stubs_declare_is_in_pyarrow(file: Path) -> None:
    missing = [f"{text}.{name}" for text, owner, name, _ in declared(file) if not hasattr(owner, name)]
    assert not missing


@pytest.mark.parametrize("file", FILES, ids=module_of)
def test_parameters_of_stubs_have_pyarrows_names(file: Path) -> None:
    compared, unlike = 0, []
    for text, owner, name, function in declared(file):
        if function is None or name.startswith("__"):
            continue
        try:
            known = set(inspect.signature(getattr(owner, name)).parameters)
        except (TypeError, ValueError):  # a property, or a function of C that does not tell
            continue
        compared += 1
        if not parameters(function) <= known:
            unlike.append(f"{text}.{name}: {sorted(parameters(function) - known)} not in {sorted(known)}")
    assert compared
    assert not unlike
