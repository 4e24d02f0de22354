"""Hints that send to the other mode lead to what that mode takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tvfsql.api.compiled import Compiled
from tvfsql.api.hints import with_set_mode
from tvfsql.api.script import Script
from tvfsql.errors import BindError, OtherMode, UnsupportedError

ENDLESS = "CREATE TABLE b (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen'{});"
FIRST = "SELECT k, COUNT(*) AS n FROM b GROUP BY k LIMIT 3"


def hint(sql: str, mode: str) -> str:
    with pytest.raises(UnsupportedError) as raised:
        [*Script(mode=mode).outcomes(sql)]
    return raised.value.hint or ""


def test_each_hint_of_a_limit_over_groups_of_an_unbounded_table_leads_somewhere() -> None:
    streaming, batch = (hint(ENDLESS.format("") + FIRST, mode) for mode in ("streaming", "batch"))
    assert streaming.endswith("or --mode batch with 'number-of-rows' = '1000' in CREATE TABLE b")
    assert batch == "'number-of-rows' = '1000' in CREATE TABLE b"
    bounded = ENDLESS.format(", 'number-of-rows' = '1000'")
    *_, compiled = Script(mode="batch").outcomes(bounded + FIRST)
    assert isinstance(compiled, Compiled)
    assert "ROW_NUMBER() OVER (ORDER BY n DESC) AS r, and WHERE r <= 10" in streaming
    inner = "(SELECT *, ROW_NUMBER() OVER (ORDER BY n DESC) AS r FROM (SELECT k, COUNT(*) AS n FROM b GROUP BY k))"
    *_, compiled = Script(mode="streaming").outcomes(f"{ENDLESS.format('')} SELECT * FROM {inner} WHERE r <= 10")
    assert isinstance(compiled, Compiled)


def test_a_hint_stays_where_the_other_mode_takes_the_query() -> None:
    assert hint(f"{ENDLESS.format('')} SELECT k, COUNT(*) AS n FROM b GROUP BY k", "batch").endswith("--mode streaming")
    bounded = ENDLESS.format(", 'number-of-rows' = '1000'")
    assert hint(bounded + FIRST, "streaming").endswith("or --mode batch")


def test_a_hint_whose_mode_refuses_the_query_too_keeps_what_helps_in_this_one() -> None:
    """Batch has no CURRENT_WATERMARK."""
    tables = "".join(ENDLESS.format(", 'number-of-rows' = '9'").replace(" b ", f" {name} ") for name in "bc")
    on = "b.k = c.k AND b.ts BETWEEN c.ts AND c.ts + INTERVAL '1' HOUR AND b.k > c.k"
    query = f"SELECT b.k FROM b LEFT JOIN c ON {on}"
    assert hint(tables + query, "streaming") == "an inner JOIN, --mode batch, or leave out b.k > c.k"
    of_streams = query.replace("b.k FROM", "b.k, CURRENT_WATERMARK(b.ts) FROM")
    assert hint(tables + of_streams, "streaming") == "an inner JOIN, or leave out b.k > c.k"


def test_a_session_that_may_change_its_mode_is_told_how() -> None:
    error = UnsupportedError("no", hint=OtherMode("batch", "UNION ALL", detail=", which ends"))
    assert with_set_mode(error, Script(mode="streaming")).hint == "UNION ALL, or --mode batch, which ends"
    assert with_set_mode(error, Script()).hint == "UNION ALL, or SET 'execution.runtime-mode' = 'batch', which ends"


def test_the_mode_of_a_hint_is_a_value() -> None:
    """One that is text would not become SET in the shell, nor vanish where that mode refuses the query too."""
    files = Path(__file__).parents[2].joinpath("tvfsql").rglob("*.py")
    texts = [file.name for file in files if re.search(r"--mode (batch|streaming)", file.read_text(encoding="utf-8"))]
    assert texts == ["readme.py"]  # which writes a command


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("ms BIGINT, rt AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR rt AS rt", "DESCRIPTOR(rt), which has the WATERMARK"),
        (
            "ms BIGINT, rt TIMESTAMP(3), WATERMARK FOR rt AS rt",
            "DESCRIPTOR(rt), which has the WATERMARK; or for ms: rt0 AS TO_TIMESTAMP_LTZ(ms, 3) and WATERMARK FOR rt0 "
            "AS rt0 in CREATE TABLE",
        ),
        ("ms BIGINT", "declare rt AS TO_TIMESTAMP_LTZ(ms, 3) and a WATERMARK in CREATE TABLE, then DESCRIPTOR(rt)"),
    ],
)
def test_the_hint_for_a_number_as_time_is_about_that_number(columns: str, expected: str) -> None:
    table = f"CREATE TABLE t ({columns}) WITH ('connector' = 'datagen');"
    with pytest.raises(BindError) as raised:
        [*Script().outcomes(f"{table} SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ms), INTERVAL '1' HOUR))")]
    assert raised.value.hint == expected


@pytest.mark.parametrize(
    ("query", "place", "expected"),
    [
        ("SELECT k, UPPER(k) AS u, COUNT(*) FROM b GROUP BY ALL", "ALL", "GROUP BY k, UPPER(k)"),
        ("SELECT COUNT(*) FROM b GROUP BY ALL HAVING COUNT(*) > 1", "ALL", "leave out GROUP BY ALL"),
    ],
)
def test_group_by_all_is_refused_at_its_word_with_the_keys(query: str, place: str, expected: str) -> None:
    sql = ENDLESS.format("") + query
    with pytest.raises(UnsupportedError, match="GROUP BY ALL is not supported") as raised:
        [*Script().outcomes(sql)]
    span = raised.value.span
    assert span is not None and sql[span.start : span.end] == place and raised.value.hint == expected
