"""The layout of the package, as docs/architecture.md promises it."""

from __future__ import annotations

from pathlib import Path

import tvfsql

PACKAGE = Path(tvfsql.__file__).parent


def test_folders_of_the_runtime_say_what_belongs_there() -> None:
    folders = {file.parent for file in (PACKAGE / "runtime").rglob("*.py")}
    assert len(folders) > 10
    lacking = [str(each) for each in folders if not (each / "__init__.py").read_text().startswith('"""')]
    assert lacking == []
