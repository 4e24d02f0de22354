"""Every aggregate of the table: each window has what a plain model says, in batch with all rules and without rules, and
on a stream that is stopped and goes on, over rows and over changes. So a HOP of one slice, a CUMULATE of one step and a
TUMBLE agree too. A new aggregate without a call in `aggregate_models` fails here.
"""

from __future__ import annotations

import base64
import json
import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import tvfsql
from tests.models.aggregate_models import CASES, SKETCHES, TYPES, random_rows
from tests.models.naive import Cumulating, Hopping, Tumbling, at, groups, interval
from tests.support.examples import SOAK
from tvfsql import Session
from tvfsql.bind.aggregates.spelled import SKETCHES as KLL
from tvfsql.errors import UnsupportedError
from tvfsql.plan.aggregate import sketched
from tvfsql.plan.aggregate.percentiles import PERCENTILES, TOP
from tvfsql.plan.aggregate.table import AGGREGATES, ALIASES, ROWS
from tvfsql.plan.values import types
from tvfsql.rules import PHASES

MINUTE = 60_000
OF_SKETCHES = {
    *KLL,
    *(sketched.PERCENTILE, sketched.PERCENTILES, sketched.HLL, sketched.HLL_UNION),
    *(sketched.THETA, sketched.THETA_UNION, sketched.THETA_COMMON, TOP),
    *(sketched.BITMAP, sketched.BITMAP_OR, sketched.BITMAP_AND),
    *sketched.TUPLES,
}
NO_RULES = ",".join(sorted({rule.name for phase in PHASES for rule in phase.rules}))
CALLS = {case.call: case for cases in CASES.values() for written in cases for case in written.variants()}
Windows = Hopping | Tumbling | Cumulating
Found = dict[tuple[datetime, datetime, int], tuple[Any, ...]]


class Sessions:
    """Rows of a key that are no further apart than the gap."""

    gap = 2 * MINUTE

    def call(self, table: str) -> str:
        return f"SESSION(TABLE {table} PARTITION BY k, DESCRIPTOR(ts), {interval(self.gap)})"

    def groups(self, rows: Sequence[Mapping[str, Any]]) -> dict[tuple[Any, ...], list[Mapping[str, Any]]]:
        found: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
        of_key = defaultdict(list)
        for row in sorted(rows, key=lambda row: row["ts"]):
            of_key[row["k"]].append(row)
        for k, held in of_key.items():
            cuts = [i for i, row in enumerate(held) if not i or row["ts"] - held[i - 1]["ts"] > self.gap]
            for a, b in zip(cuts, [*cuts[1:], len(held)], strict=True):
                found[k, at(held[a]["ts"]), at(held[b - 1]["ts"] + self.gap)] = held[a:b]
        return found

    def __repr__(self) -> str:
        return "Sessions()"


WINDOWS: list[Windows | Sessions] = [
    Hopping(10 * MINUTE, 60 * MINUTE),
    Hopping(60 * MINUTE, 60 * MINUTE),
    Tumbling(60 * MINUTE),
    Cumulating(20 * MINUTE, 60 * MINUTE),
    Cumulating(60 * MINUTE, 60 * MINUTE),
    Sessions(),
]


def calls_over(window: Windows | Sessions, *, changes: bool = False) -> list[str]:
    """All calls, for windows of several slices over rows. The others take turns with a part of them each in every run
    but `make soak`.
    """
    at = WINDOWS.index(window)
    if SOAK or (at == 0 and not changes):
        return [*CALLS]
    parts = 3 if changes else len(WINDOWS) - 1
    return [*CALLS][at % parts :: parts]


def test_every_aggregate_of_the_table_has_calls_with_a_model() -> None:
    assert CASES.keys() == (AGGREGATES.keys() - {ROWS}) | OF_SKETCHES | {sketched.ESTIMATE, PERCENTILES} - {PERCENTILES}
    texts = " ".join(CALLS)
    assert [name for name in ALIASES if f"{name}(" not in texts] == []
    for name, row in AGGREGATES.items():
        takes = row.ignores_distinct or row.templates(types.INT).take_distinct
        assert not takes or name == ROWS or any("DISTINCT" in case.call or "{d}" in case.call for case in CASES[name])
        assert name == ROWS or any("{f}" in case.call for case in CASES[name]), name


@cache
def retracted() -> tuple[str, ...]:
    """The calls that streams compute over changes. All but sketches are; those are refused by name."""
    left = []
    for name, cases in CASES.items():
        for case in (each for written in cases for each in written.variants()):
            if name not in OF_SKETCHES:
                left.append(case.call)
                continue
            with pytest.raises(UnsupportedError, match="cannot retract values"):
                tvfsql.compile(f"{_table('', changes=True)}; {_query(WINDOWS[0], [case.call])}", mode="streaming")
    return tuple(left)


@pytest.mark.spark
@pytest.mark.parametrize("window", WINDOWS, ids=repr)
def test_windows_of_rows_have_what_the_model_says(
    spark: SparkSession, rows: list[dict[str, Any]], tmp_path: Path, window: Windows | Sessions
) -> None:
    folder, expected, calls = tmp_path / "in", _expected(rows, window), calls_over(window)
    folder.mkdir()
    cut = len(rows) * 3 // 4  # so that windows end before and after it
    _write(folder / "1.json", [("", row) for row in rows[:cut]])
    stream = _windows(spark, folder, window, calls, checkpoint=tmp_path / "state", final=False)
    _write(folder / "2.json", [("", row) for row in rows[cut:]])
    later = _windows(spark, folder, window, calls, checkpoint=tmp_path / "state", final=True)
    assert stream and later and not stream.keys() & later.keys()
    for found in (
        _windows(spark, folder, window, calls),
        _windows(spark, folder, window, calls, disabled=NO_RULES),
        stream | later,
    ):
        assert _differing(found, expected, calls) == ""


@pytest.mark.spark
@pytest.mark.parametrize("window", WINDOWS, ids=repr)
def test_windows_of_changes_have_what_the_model_says_of_the_rows_that_are_left(
    spark: SparkSession, rows: list[dict[str, Any]], tmp_path: Path, window: Windows | Sessions
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    messages = [("+I", row) for row in rows]
    for row in rows[::3]:  # at some time after it came
        messages.insert(messages.index(("+I", row)) + random.Random(row["ts"]).randint(1, 9), ("-D", row))
    expected = _expected([row for i, row in enumerate(rows) if i % 3], window)
    cut, calls = len(messages) * 3 // 4, [call for call in calls_over(window, changes=True) if call in retracted()]
    _write(folder / "1.json", messages[:cut])
    if isinstance(window, Sessions):
        with pytest.raises(UnsupportedError, match="SESSION needs insert-only input"):
            _windows(spark, folder, window, calls, changes=True, checkpoint=tmp_path / "state")
        stream = {}
    else:
        stream = _windows(spark, folder, window, calls, changes=True, checkpoint=tmp_path / "state", final=False)
    _write(folder / "2.json", messages[cut:])
    if stream:
        later = _windows(spark, folder, window, calls, changes=True, checkpoint=tmp_path / "state", final=True)
        assert not stream.keys() & later.keys()
        assert _differing(stream | later, expected, calls) == ""
    assert _differing(_windows(spark, folder, window, calls, changes=True), expected, calls) == ""
    calls = calls_over(window, changes=True)
    applied = _windows(spark, folder, window, calls, changes=True, disabled=NO_RULES)
    assert _differing(applied, expected, calls) == ""


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> list[dict[str, Any]]:
    """Random rows, with the sketches of their values."""
    made = random_rows(5, 220)
    values = spark.createDataFrame([(i, x) for i, row in enumerate(made) for x in row["xs"]], "i INT, x INT")
    calls = ", ".join(f"{call} AS {name}" for name, call in SKETCHES.items())
    values.createOrReplaceTempView("values_of_sketches")
    found = {row.i: row for row in spark.sql(f"SELECT i, {calls} FROM values_of_sketches GROUP BY i").collect()}
    for i, row in enumerate(made):
        row |= {name: found[i][name] if i in found else None for name in SKETCHES}
    return made


def _expected(rows: list[dict[str, Any]], window: Windows | Sessions) -> dict[Any, dict[str, Any]]:
    held = window.groups(rows) if isinstance(window, Sessions) else groups(rows, window, ["k"])
    return {
        (start, end, k): {call: _plain(case.model(rows)) for call, case in CALLS.items()}
        for (k, start, end), rows in held.items()
    }


def _differing(found: Found, expected: dict[Any, dict[str, Any]], calls: list[str]) -> str:
    """Of each call that differs one window: the call, what was found, what the model says, and the window."""
    assert found.keys() == expected.keys()
    differing = {}
    for window, results in found.items():
        for call, value in zip(calls, results, strict=True):
            if not _near(value, expected[window][call]):
                differing[call] = (call, value, expected[window][call], window)
    return "\n".join(map(repr, differing.values()))


def _near(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_near, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(one == other)


def _write(file: Path, messages: list[tuple[str, dict[str, Any]]]) -> None:
    lines = []
    for op, row in messages:
        shown = {name: row[name] for name in TYPES}
        shown |= {name: row[name] and base64.b64encode(row[name]).decode() for name in SKETCHES}
        shown |= {"ts": f"{at(row['ts']):%Y-%m-%d %H:%M:%S.%f}"[:-3], "n": None if row["n"] is None else str(row["n"])}
        lines.append(json.dumps(shown | ({"op": op} if op else {})))
    file.write_text("\n".join(lines), encoding="utf-8")


def _table(folder: object, *, changes: bool) -> str:
    op, option = ("op STRING, ", ", 'changelog.op' = 'op'") if changes else ("", "")
    columns = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
    return (
        f"CREATE TABLE t ({op}{columns}, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '30' MINUTE) "
        f"WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json'{option})"
    )


def _query(window: Windows | Sessions, calls: list[str]) -> str:
    items = ", ".join(f"{call} AS c{i}" for i, call in enumerate(calls))
    source = f"TABLE({window.call('t')}) GROUP BY window_start, window_end, k"
    return f"SELECT window_start, window_end, k, {items} FROM {source}"


def _windows(
    spark: SparkSession,
    folder: Path,
    window: Windows | Sessions,
    calls: list[str],
    *,
    changes: bool = False,
    disabled: str = "",
    **of_stream: Any,
) -> Found:
    session = Session(spark=spark, mode="streaming" if of_stream else "batch", **of_stream)
    session.sql(_table(folder, changes=changes))
    if disabled:
        session.sql(f"SET 'tvfsql.rules.disabled' = '{disabled}'")
    rows = session.sql(_query(window, calls)).collect()
    found = {(start, end, k): tuple(map(_plain, results)) for start, end, k, *results in rows}
    assert len(found) == len(rows)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return float(value) if number else value
