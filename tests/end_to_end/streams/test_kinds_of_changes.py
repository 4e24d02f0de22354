"""The kinds of changes are Flink's if each row is a micro-batch (tests/support/flink_kinds.py)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.conformance import Situation
from tests.support.flink_kinds import ABOUT, asked, kinds
from tests.support.tvfsql_rows import PLACE, changes_of, of_flink, rows, script, written
from tvfsql.testing.run import run_case
from tvfsql.testing.suite import Case, Step, Suite

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Flink answers a row of a group that changes with +U of each rank that it passes, or with -D and +I of the row
FOLDED = {name for name in ABOUT if "the groups" in name or "a changelog" in name}


def changes(situation: Situation, spark: SparkSession, folder: Path) -> Iterator[tuple[str, str]]:
    """The kind and the row of each change."""
    file = folder / "script.sql"
    file.write_text(script(situation), encoding="utf-8")
    (table,) = situation.tables
    steps = tuple(Step(PLACE, rows={table.name: rows([row])}) for row in table.objects())
    case = Case("case", file, "streaming", {"table.local-time-zone": situation.zone}, steps, PLACE)
    result = run_case(Suite(folder / "case.tvfsql.yaml", "-", (case,)), case, spark)
    assert result.error is None, result.error
    for step in result.steps:
        for given in step.given.values():
            yield from changes_of(given)


def of_answer(name: str) -> Iterator[tuple[str, str]]:
    told = kinds()[name]
    for kind, row in told["changes"]:
        yield kind, written([of_flink(value, of) for value, of in zip(row, told["types"], strict=True)])


def left(emitted: Counter[tuple[str, str]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for (kind, row), count in emitted.items():
        found[row] += count if kind.startswith("+") else -count
    return +found


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.parametrize("situation", asked(), ids=lambda each: each.name)
def test_changes_are_those_of_flink(situation: Situation, spark: SparkSession, tmp_path: Path) -> None:
    assert kinds()[situation.name]["sql"] == situation.sql, "python -m tests.support.flink_kinds"
    found, expected = Counter(changes(situation, spark, tmp_path)), Counter(of_answer(situation.name))
    assert left(found) == left(expected)
    if situation.name not in FOLDED:
        assert found == expected
