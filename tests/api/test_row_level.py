"""Row-level operators through the compiler: what it warns of, and what the command line prints."""

from __future__ import annotations

import re

import pytest

import tvfsql
from tvfsql.cli import main
from tvfsql.errors import UnsupportedError
from tvfsql.plan.values.scalar import Ref, Scalar
from tvfsql.syntax.time_bounds import time_bounds

TABLE = (
    "CREATE TABLE bid (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) "
    "WITH ('connector' = 'filesystem', 'path' = 'bid', 'format' = 'parquet');"
)
FIRST = "SELECT * FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts) = 1"


def compiled(sql: str, **options: str) -> tvfsql.Compiled:
    return tvfsql.compile(TABLE + sql, mode="streaming", options=options)


def test_state_without_a_bound_is_warned_of_by_its_operator() -> None:
    (warning,) = compiled(FIRST).warnings
    assert "deduplication keeps every value of item" in warning
    assert "SET 'table.exec.state.ttl'" in warning
    assert compiled(FIRST, **{"table.exec.state.ttl": "1 h"}).warnings == ()
    assert tvfsql.compile(TABLE + FIRST, mode="batch").warnings == ()


def test_the_command_line_warns_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--mode", "streaming", "-e", TABLE + FIRST, "--stage", "physical"]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("warning: state grows without bound: deduplication ")
    assert "warning" not in printed.out


def bounds(sql: str) -> tuple[object, ...] | None:
    """Of a condition on the columns a and b; in ms, where these are whole."""
    found = time_bounds(
        Scalar(tuple(Ref(part) if part in ("a", "b") else part for part in re.split(r"\b([ab])\b", sql)))
    )
    if found is None:
        return None
    low, high = (None if end is None else end / 1000 for end in (found.low, found.high))
    return found.first, found.second, low, high


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("a BETWEEN b - INTERVAL '5' MINUTE AND b + INTERVAL '1' HOUR", ("a", "b", -300_000, 3_600_000)),
        ("a >= b - INTERVAL '0.5' SECOND", ("a", "b", -500, None)),
        ("b + INTERVAL '1:30' MINUTE TO SECOND > a", ("b", "a", -89_999.999, None)),
        ("a < INTERVAL '1' DAY + b", ("a", "b", None, 86_399_999.999)),
        ("a = b", ("a", "b", 0, 0)),
        ("a - INTERVAL '2' HOURS <= (b - INTERVAL '-1' HOUR)", ("a", "b", None, 10_800_000)),
        ("a - b < INTERVAL '1' MINUTE", ("a", "b", None, 59_999.999)),
        ("a < DATE_ADD(HOUR, 1, b)", None),
        ("a > b + INTERVAL '1' MONTH", None),
        ("a < TIMESTAMP '2020-01-01 00:00:00'", None),
        ("a <> b", None),
        ("a < a", None),
        ("NOT a < b", None),
        ("a < b OR a > b", None),
    ],
)
def test_conditions_that_bound_the_time_between_two_columns(sql: str, expected: tuple[object, ...] | None) -> None:
    assert bounds(sql) == expected


def test_columns_of_windows_above_must_go_by_a_time_that_is_never_null() -> None:
    join = "(SELECT l.ts, r.ts AS rts FROM bid l LEFT JOIN bid r ON l.item = r.item AND l.ts = r.ts)"
    windows = f"TABLE(TUMBLE({join}, DESCRIPTOR({{}}), INTERVAL '1' HOUR))"
    sql = f"SELECT COUNT(*) AS n FROM {windows} GROUP BY window_start, window_end"
    assert compiled(sql.format("ts")).physical
    with pytest.raises(UnsupportedError, match="the time column of a window over this input must be ts"):
        compiled(sql.format("rts"))
