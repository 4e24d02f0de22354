"""Goldens: one case file under tests/cases, one .plan under tests/__snapshots__, written by `make golden`.

Goldens have folders of their own because `--snapshot-update` deletes every file there that it does not know.
"""

from __future__ import annotations

import ast
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from tvfsql.api import Compiled
from tvfsql.api.definitions import Message
from tvfsql.api.listings import Listing
from tvfsql.api.script import Outcome, Script, Text, queries_of
from tvfsql.bind.statements.call import AdvanceWatermark

CASES = Path(__file__).parents[1] / "cases"
GOLDENS = Path(__file__).parents[1] / "__snapshots__"
PRELUDE = CASES / "prelude.sql"


@dataclass(frozen=True)
class Case:
    """A .sql file. Its first lines can be `-- key: value`, with several values separated by blanks."""

    name: str  # folder/file, without the suffix

    @property
    def sql(self) -> str:
        return (CASES / f"{self.name}.sql").read_bytes().decode()

    def directives(self, key: str) -> set[str]:
        lines = (line.removeprefix(f"-- {key}:") for line in self.sql.splitlines() if line.startswith(f"-- {key}:"))
        return {word for line in lines for word in line.split()}

    @property
    def golden(self) -> Path:
        return GOLDENS / f"{self.name}.plan"

    def __str__(self) -> str:
        return self.name


def cases(*folders: str) -> list[Case]:
    """The cases in some folders and their subfolders."""
    files = sorted(path for folder in folders for path in (CASES / folder).rglob("*.sql"))
    return [Case(path.relative_to(CASES).with_suffix("").as_posix()) for path in files]


@cache
def _prelude(mode: str | None) -> Script:
    script = Script(mode=mode)
    list(script.outcomes(PRELUDE.read_text(encoding="utf-8"), "prelude.sql"))
    return script


def after_prelude(mode: str | None = None) -> Script:
    """A script with the tables, views and functions of the prelude, which is read once."""
    return deepcopy(_prelude(mode))


def outcomes(case: Case) -> list[Outcome]:
    """The outcomes of the statements of a case after the prelude; for a STATEMENT SET one per INSERT."""
    given = after_prelude().outcomes(case.sql, f"{case.name.rpartition('/')[2]}.sql")
    return [each for outcome in given for each in (queries_of(outcome) or (outcome,))]


def queries(case: Case) -> list[Compiled]:
    return [outcome for outcome in outcomes(case) if isinstance(outcome, Compiled)]


def answer(outcome: Outcome) -> str:
    """The answer of a statement that is not a query."""
    match outcome:
        case Message(text) | Text(text):
            return text
        case AdvanceWatermark():
            return repr(outcome)
        case Listing(columns, rows):
            return "\n".join(" | ".join(cell or "" for cell in row) for row in (columns, *rows))
    raise AssertionError(outcome)


class PlanExtension(SingleFileSnapshotExtension):
    """Names a golden after its case: tests/cases/a/b.sql has tests/__snapshots__/a/b.plan."""

    file_extension = "plan"
    _write_mode = WriteMode.TEXT

    @classmethod
    def write_snapshot_collection(cls, *, snapshot_collection, name_order=None) -> None:
        """Write with LF on every machine."""
        (snapshot,) = snapshot_collection
        Path(snapshot_collection.location).write_text(snapshot.data, encoding="utf-8", newline="\n")

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        case = _case(test_location)
        # syrupy asks this of every test of the session, also of those without a case
        return str(case.golden.parent) if case else super().dirname(test_location=test_location)

    @classmethod
    def discovery_dirname(cls, *, test_location: PyTestLocation) -> str:
        return cls.dirname(test_location=test_location)

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        case = _case(test_location)
        return case.golden.stem if case else super().get_snapshot_name(test_location=test_location, index=index)


def _case(location: PyTestLocation) -> Case | None:
    callspec = getattr(location.item, "callspec", None)
    found = callspec.params.get("case") if callspec else None
    return found if isinstance(found, Case) else None


def assigned_again(program: str) -> list[str]:
    """The names that a function of a program assigns though they have a value."""
    found = []
    for function in ast.walk(ast.parse(program)):
        if isinstance(function, ast.FunctionDef):
            seen = {argument.arg for argument in function.args.args}
            stored = (node for node in ast.walk(function) if isinstance(node, ast.Name))
            for name in (node.id for node in stored if isinstance(node.ctx, ast.Store)):
                found += [f"{function.name}: {name}"] if name in seen else []
                seen.add(name)
    return found
