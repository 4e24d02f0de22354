"""Facts of expressions come from their trees: text that only looks like a call decides nothing."""

from __future__ import annotations

import pytest

import tvfsql
from tvfsql.api import Compiled
from tvfsql.plan.values.facts import Facts
from tvfsql.plan.values.scalar import free_name

TABLE = (
    "CREATE TABLE t (s STRING, `now` STRING, n INT, num STRING, ts TIMESTAMP(3), r ROW<`current_date` INT>) "
    "WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = 't');"
)


def facts(value: str) -> Facts:
    made = tvfsql.compile(f"{TABLE}SELECT {value} AS x FROM t")
    assert isinstance(made, Compiled)
    (item,) = made.logical.items  # type: ignore[attr-defined]
    found: Facts = item.scalar.facts
    return found


@pytest.mark.parametrize(
    "value",
    ["s = 'nowhere'", "'it is now'", "`now`", "r.`current_date`", "s || 'unix_timestamp()'", "'localtimestamp'"],
)
def test_words_of_clocks_in_literals_and_names_read_no_clock(value: str) -> None:
    assert not facts(value).reads_clock


@pytest.mark.parametrize(
    "value",
    ["NOW()", "CURRENT_DATE", "LOCALTIME", "CURRENT_TIME", "UNIX_TIMESTAMP()", "PROCTIME()", "CURRENT_ROW_TIMESTAMP()",
     "CASE WHEN ts < LOCALTIMESTAMP THEN 1 END"],
)  # fmt: skip
def test_clocks_are_read(value: str) -> None:
    assert facts(value).reads_clock


@pytest.mark.parametrize("value", ["'rand()'", "s = 'uuid()'", "UPPER('random')"])
def test_words_of_random_functions_in_literals_are_deterministic(value: str) -> None:
    assert facts(value).deterministic


def test_random_functions_are_not_deterministic() -> None:
    assert not facts("RAND()").deterministic
    assert not facts("s || UUID()").deterministic


@pytest.mark.parametrize("value", ["s = 'a + b / 0'", "'x[1]'", "s = 'cast('", "n = 5", "s LIKE 'a%'", "n IS NULL"])
def test_operators_in_literals_cannot_fail(value: str) -> None:
    assert not facts(value).can_fail


@pytest.mark.parametrize("value", ["n + 1", "n / 2", "CAST(num AS INT)", "num = 5", "num BETWEEN 1 AND 2", "-n"])
def test_what_computes_or_reads_text_can_fail(value: str) -> None:
    assert facts(value).can_fail


def test_a_free_name_is_free_in_any_case() -> None:
    assert free_name("window_start0", ["WINDOW_START0"]) == "window_start00"
    table = (
        "CREATE TABLE k (ts TIMESTAMP(3), window_start INT, WINDOW_START0 INT, WATERMARK FOR ts AS ts) "
        "WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = 'k');"
    )
    query = "SELECT * FROM TABLE(TUMBLE(TABLE k, DESCRIPTOR(ts), INTERVAL '1' HOUR))"
    made = tvfsql.compile(table + query)
    assert isinstance(made, Compiled)
    for node in made.logical.walk():
        names = [name.lower() for name in node.columns]
        assert len(names) == len(set(names))
