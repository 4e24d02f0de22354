"""A function is one entry of the table: everything that knows functions asks the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

import tvfsql
from tests.support import functions_page
from tvfsql.api.listings import show
from tvfsql.bind import flink
from tvfsql.bind.flink.function import Function
from tvfsql.catalog import Catalog
from tvfsql.errors import TvfSqlError
from tvfsql.plan.values.types import STRING
from tvfsql.shell import functions as completed
from tvfsql.syntax.parser import parse

SHOUT = Function("SHOUT(string, times)", "REPEAT(UPPER({0}), {1})", STRING, "is louder than in Flink")
TABLE = """CREATE TABLE t (s STRING, n INT, b BOOLEAN, d DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');"""
BATCH = {"execution.runtime-mode": "batch"}


@pytest.fixture
def shout(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(flink.TOPICS, "Text", (*flink.TOPICS["Text"], SHOUT))
    flink.by_name.cache_clear()
    completed._built_in.cache_clear()
    yield
    monkeypatch.undo()
    flink.by_name.cache_clear()
    completed._built_in.cache_clear()


def compiled(item: str) -> str:
    return tvfsql.compile(f"{TABLE} SELECT {item} AS x FROM t", options=BATCH).code


def refusal(item: str) -> TvfSqlError:
    with pytest.raises(TvfSqlError) as caught:
        compiled(item)
    return caught.value


def test_a_query_calls_the_function_by_its_entry(shout: None) -> None:
    assert "REPEAT(UPPER(s), n)" in compiled("SHOUT(s, n)")
    assert "REPEAT(UPPER(s), 2)" in compiled("shout(s, 2)")


def test_its_type_is_that_of_the_entry(shout: None) -> None:
    assert "'STRING'" in compiled("TYPEOF(SHOUT(s, n))")


def test_arguments_of_other_types_are_refused_with_its_call_as_hint(shout: None) -> None:
    assert refusal("SHOUT(s, b)").message == "SHOUT needs a number, not a BOOLEAN"
    assert "SHOUT(CAST(x AS STRING), ...)" in str(refusal("SHOUT(b, n)"))


def test_another_number_of_arguments_is_refused_with_its_call_as_hint(shout: None) -> None:
    assert "SHOUT(string, times)" in str(refusal("SHOUT(s)"))


def test_a_near_name_is_answered_with_its_name(shout: None) -> None:
    assert "SHOUT" in str(refusal("SHOUTT(s, n)")).upper().replace("SHOUTT", "")


def test_docs_completion_and_show_functions_list_it(shout: None) -> None:
    assert "| `SHOUT(string, times)` | string | is louder than in Flink |" in functions_page.page()
    assert completed.Call("SHOUT(string, times)", "STRING") in [*completed.calls()]
    assert ("shout",) in show(cast(Any, parse("SHOW FUNCTIONS LIKE 'sh%'")[0]), Catalog()).rows


def test_nothing_knows_it_without_its_entry() -> None:
    assert "SHOUT" in str(refusal("SHOUT(s, n)"))
    assert "SHOUT(" not in functions_page.page()
