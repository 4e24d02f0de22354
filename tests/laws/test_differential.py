"""Random scripts give the rows that Flink gives, or differ in a way that the documentation names.

Flink's answers to the scripts of the fixed seeds are in tests/data/flink_differential.json, which
tests/support/differential.py writes. `make soak` asks Flink about new ones, if it is installed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.models.choices import Choices, Tree, smallest
from tests.models.random_scripts import random_script
from tests.support.conformance import MODES, Situation
from tests.support.differential import Found, Tvfsql, differences, judged, kept_scripts, reduced
from tests.support.examples import ONE_IN, SOAK
from tests.support.flink_process import installed
from tests.support.known_differences import KNOWN
from tests.support.tvfsql_rows import Answer
from tests.support.tvfsql_rows import script as script_text
from tvfsql.api import Compiled
from tvfsql.api.script import Script, queries_of
from tvfsql.catalog import Catalog
from tvfsql.errors import TvfSqlError
from tvfsql.options import Options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DOCS = Path(__file__).parents[2] / "docs"
FRESH = {"batch": 60, "streaming": 20}
SHARE = {"batch": 1, "streaming": 1 if SOAK else 2 * ONE_IN}  # a stream costs seconds


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.parametrize("mode", MODES)
def test_rows_of_random_scripts_are_those_of_flink(mode: str, spark: SparkSession) -> None:
    here, wrong = Tvfsql(spark), []
    for script, told in kept_scripts(mode)[:: SHARE[mode]]:
        verdict = judged(script, told, here.answer)
        if verdict.kind != "same":
            wrong.append(f"{script.sql}\n{verdict.kind}: {verdict.details}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.skipif(not (SOAK and installed()), reason="for `make soak`, with Flink of `make bench-flink`")
@pytest.mark.parametrize("mode", MODES)
def test_rows_of_new_scripts_are_those_of_flink(mode: str, spark: SparkSession) -> None:
    seed = random.randrange(10**6, 10**9)
    found = differences(range(seed, seed + FRESH[mode]), mode, spark)
    wrong = [f"seed {each.seed}: {each.script.sql}\n{each.verdict}" for each in found if each.verdict.bad]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("mode", MODES)
def test_a_seed_makes_the_same_script_always(mode: str) -> None:
    for seed in range(30):
        first = random_script(seed, mode)
        assert random_script(seed, mode, first.made) == first


@pytest.mark.soak
@pytest.mark.parametrize("mode", MODES)
def test_types_of_random_scripts_are_those_of_their_templates(mode: str) -> None:
    """Names resolve by scope, and what they stand for has a type. A few scripts are refused, but no valid one fails."""
    wrong, answered, count = [], 0, 1000 if SOAK else 160 // ONE_IN
    for seed in range(count):
        script, _, columns = random_script(seed, mode)
        if script.inserts:
            continue
        try:
            query = compiled(script, mode)
        except TvfSqlError:
            continue
        answered += 1
        shown = query.names_and_types
        if len(shown) > len(columns):  # rows that change have their kind first
            (name, _), *shown = shown
            assert name == "op", script.sql
        kinds = [KINDS.get(kind.partition("(")[0], kind) for _, kind in shown]
        expected = [each.kind for each in columns]
        pairs = zip(kinds, expected, strict=True)
        if any(got != kind for got, kind in pairs if "<" not in kind):
            wrong.append(f"seed {seed}: {script.sql}\n{kinds}\n{expected}")
    assert not wrong, "\n".join(wrong)
    assert answered > count * 0.7


KINDS = {
    "tinyint": "INT",
    "smallint": "INT",
    "int": "INT",
    "bigint": "BIGINT",
    "decimal": "DECIMAL",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "STRING",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "time": "TIME",
    "timestamp_ntz": "TIMESTAMP",
    "timestamp": "LTZ",
    "binary": "BYTES",
}


def compiled(script: Situation, mode: str) -> Compiled:
    """The query of a script. Raises TvfSqlError."""
    outcomes = Script(Catalog(), Options.of({"table.local-time-zone": script.zone}), mode).outcomes(script_text(script))
    return [query for outcome in outcomes for query in queries_of(outcome)][-1]


def test_the_smallest_choices_that_fail() -> None:
    def text(choices: Choices) -> str:
        with choices.part():
            if choices.below(3) < 2:
                return choices.one("abcd")
            return f"({text(choices)}+{text(choices)})"

    def fails(made: Tree) -> bool:
        return "c" in text(Choices(given=made))

    first = next(made for seed in range(99) if fails(made := made_by(text, seed)) and len(str(made)) > 60)
    assert text(Choices(given=smallest(first, fails))) == "c"


class Same:
    """A Flink that has no row for anything."""

    def ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"types": [], "rows": []}


class Wrong:
    """A tvfsql that has a row too many where a script has CUMULATE and a table the row with this id."""

    def answer(self, script: Situation) -> Answer:
        text = " ".join([*script.views, script.sql])
        wrong = "CUMULATE" in text and any(row[1] == 7 for table in script.tables for row in table.rows)
        return Answer(Counter({"[]": int(wrong)}))


def test_a_script_that_differs_is_made_smaller() -> None:
    scripts = ((seed, *random_script(seed, "batch")) for seed in range(200))
    seed, script, made, _ = next(each for each in scripts if "CUMULATE" in each[1].sql and len(each[1].sql) > 800)
    found = Found(seed, script, made, {}, judged(script, Same().ask({}), Wrong().answer))
    assert found.verdict.bad
    smaller, verdict = reduced(found, "batch", cast("Any", Same()), cast("Any", Wrong()))
    assert verdict.kind == "rows" and "CUMULATE" in smaller.sql
    assert len(smaller.sql) < len(script.sql) / 2
    assert sum(len(table.rows) for table in smaller.tables) < sum(len(table.rows) for table in script.tables) / 2


def made_by(text: Callable[[Choices], str], seed: int) -> Tree:
    choices = Choices(seed)
    text(choices)
    return choices.made


def test_known_differences_are_named_by_the_documentation() -> None:
    for each in KNOWN:
        text = " ".join((DOCS / each.page).read_text(encoding="utf-8").split())
        assert each.named in text, each
