"""The situations that other projects test, with Flink's rows (tests/conformance/*.yaml, docs/conformance.md)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.conformance import Situation, answers, situations
from tests.support.conformance_page import PAGE, of_windows, page
from tests.support.examples import ONE_IN, SOAK
from tests.support.tvfsql_rows import Answer, answer, flinks, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALL = situations()
RUNS = [(each, mode) for each in ALL for mode in each.modes]
SHARE = 6 * ONE_IN  # `make test` runs one in SHARE of the situations, and each that is refused, which takes no time
CHOSEN = [run for at, run in enumerate(RUNS) if SOAK or "refused" in run[0].marks.get(run[1], {}) or at % SHARE == 0]


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.parametrize(("situation", "mode"), CHOSEN, ids=lambda each: getattr(each, "name", each))
def test_rows_are_those_of_flink(situation: Situation, mode: str, spark: SparkSession, tmp_path: Path) -> None:
    problem = judged(situation, mode, answer(situation, mode, spark, tmp_path))
    assert not problem, f"{situation.sql}\n{problem}"


def judged(situation: Situation, mode: str, found: Answer) -> str:
    """What is wrong with an answer, for a person; empty if nothing is."""
    marks = situation.marks.get(mode, {})
    if situation.expected is not None:
        expected, refused = sorted(written(row) for row in situation.expected), None
    else:
        told = answers()[situation.name, mode]
        refused = told.get("refused") or told.get("failed")
        expected = sorted(flinks(told).elements()) if refused is None else []
    rows = sorted(found.rows.elements())
    if found.refused is not None:
        words = marks.get("refused")
        if words and refused is not None:
            return f"Flink refuses it too: {refused}"
        agreed = words in found.refused if words else refused is not None
        return "" if agreed else f"refused: {found.refused}\nexpected: {expected}"
    if refused is not None:
        return "" if marks.get("beyond") else f"Flink refuses it ({refused}), here: {rows}"
    if "different" in marks:
        return "" if rows != expected else "the rows are the same: it is not different"
    stale = "refused" in marks or "beyond" in marks
    if rows == expected and not stale:
        return ""
    only = [row for row in rows if row not in expected], [row for row in expected if row not in rows]
    return f"only here: {only[0]}\nonly in Flink: {only[1]}\n{len(rows)} rows here, {len(expected)} there"


def test_answers_are_those_to_the_queries_of_now() -> None:
    asked = {(each.name, mode) for each in ALL for mode in each.modes if each.expected is None}
    assert {*answers()} == asked, "python -m tests.support.flink_conformance"


def test_flink_refuses_what_is_said_to_go_beyond_it() -> None:
    told = answers()
    said = [(each.name, mode) for each, mode in RUNS if "beyond" in each.marks.get(mode, {}) and not each.expected]
    assert said and not [run for run in said if not {"refused", "failed"} & {*told[run]}]


def test_page_is_of_now() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.support.conformance_page"


def test_situations_are_many_and_those_of_windows_nearly_all_the_same() -> None:
    same, answered = of_windows()
    assert len(ALL) >= 400 and same >= 0.95 * answered, (len(ALL), same, answered)
