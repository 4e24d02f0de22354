"""Expressions of every kind beside the answers of Flink 2.3 (tests/data/flink_functions.json), in a zone of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

import tvfsql
from tests.support.examples import SOAK

DATA = Path(__file__).parents[2] / "data"


def _read(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


OF_TYPES = _read("flink_types.json")
MEASURED, MORE = _read("flink_functions.json"), _read("flink_functions_more.json")
CASES = {case["expr"]: case for case in (*MEASURED["cases"], *MORE["cases"])}
TABLE = MEASURED["ddl"].replace("{path}", str(DATA / "flink_functions_rows.json"))
TYPES = {"BYTES": "binary", "TIMESTAMP(3)": "timestamp_ntz", "TIMESTAMP_LTZ(3)": "timestamp"}
COMPARED = "INT BIGINT SMALLINT TINYINT STRING BOOLEAN DOUBLE FLOAT DATE".split()
AT_ONCE = 60
# What docs/functions.md says is different, by the reason: it is refused, it fails when it runs, or has another value
DIFFERENT = _read("flink_functions_different.json")
REFUSED, FAILS, DIFFERS = (
    {expression for expressions in DIFFERENT[kind].values() for expression in expressions}
    for kind in ("refused", "fails", "differs")
)
SAME = [expression for expression in CASES if expression not in REFUSED | FAILS | DIFFERS]


def plain(value: Any) -> Any:
    """A value as the file of answers has it."""
    match value:
        case bool() | None | int():
            return value
        case Decimal():
            return f"D{value:f}"
        case float():
            return repr(value)
        case bytes() | bytearray():
            return f"B{bytes(value).hex()}"
        case timedelta():
            return f"PT{value.total_seconds()}"
        case datetime():
            return value.isoformat(sep=" ")
        case time():
            return value.isoformat().removesuffix("000").removesuffix(":00")
        case date():
            return value.isoformat()
        case dict():
            return {"map": sorted(([plain(key), plain(held)] for key, held in value.items()), key=str)}
        case Row() | list():
            return [plain(part) for part in value]
    return value


def agrees(got: Any, wanted: Any, kind: str) -> bool:
    """Whether a value equals Flink's, which is of this type. Where Flink fails, any value does. Times are no texts:
    they may differ in zeros at the end."""
    if isinstance(wanted, str) and wanted.startswith("ERR"):
        return True
    if isinstance(wanted, dict) and "map" in wanted:
        pairs = got["map"] if isinstance(got, dict) else []
        expected = sorted(wanted["map"], key=str)
        held = kind.removesuffix(">").rpartition(", ")[2]
        return len(pairs) == len(expected) and all(agrees(a, b, held) for a, b in zip(pairs, expected, strict=True))
    if isinstance(wanted, list) and isinstance(got, list):
        return len(got) == len(wanted) and all(
            agrees(a, b, kind.removeprefix("ARRAY<")) for a, b in zip(got, wanted, strict=True)
        )
    if not isinstance(got, str) or not isinstance(wanted, str) or got == wanted:
        return bool(got == wanted)
    if kind.startswith("INTERVAL"):
        return got == f"PT{_seconds(wanted)}"
    if "TIMESTAMP" in kind:
        return _without_zeros(got) == _without_zeros(wanted)
    if kind.startswith(("DOUBLE", "FLOAT")):
        return abs(float(got) - float(wanted)) <= (1e-12 if kind.startswith("DOUBLE") else 1e-7) * abs(float(wanted))
    return False


def _seconds(interval: str) -> float:
    """Those of PT1H2M3.5S."""
    parts = re.findall(r"(-?[0-9.]+)([HMS])", interval)
    return sum(float(number) * {"H": 3600, "M": 60, "S": 1}[unit] for number, unit in parts)


def _without_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def outcomes(
    session: tvfsql.Session, expressions: list[str], keys: str = "id, ", cases: dict[str, Any] = CASES, table: str = "t"
) -> Iterator[tuple[str, str]]:
    """Each expression with what is wrong with it, or with nothing. Many at once, as queries cost more than columns."""
    items = ", ".join(f"{expression} AS x{i}" for i, expression in enumerate(expressions))
    try:
        frame = session.sql(f"SELECT {keys}{items} FROM {table}").dataframe()
        rows = {str(row["id"]) if keys else "": row for row in frame.collect()}
    except Exception as error:  # Spark's too: one at a time, it is told of the expression
        if len(expressions) == 1:
            yield expressions[0], f"fails: {' '.join(str(error).split())[:150]}"
            return
        half = len(expressions) // 2
        yield from outcomes(session, expressions[:half], keys, cases, table)
        yield from outcomes(session, expressions[half:], keys, cases, table)
        return
    kinds = dict(frame.dtypes)
    for i, expression in enumerate(expressions):
        case = cases[expression]
        of_flink = (case["type"] or "").removesuffix(" NOT NULL")
        wrong = [
            f"row {key}: {plain(rows[key][f'x{i}'])!r}, in Flink {answer!r}"
            for key, answer in (case["flink"].items() if keys else [("", _alone(case["flink"]))])
            if not agrees(plain(rows[key][f"x{i}"]), answer, of_flink)
        ]
        kind = TYPES.get(of_flink, of_flink.lower().replace(" ", ""))
        comparable = of_flink in COMPARED or of_flink in TYPES or of_flink.startswith("DECIMAL")
        if comparable and kinds[f"x{i}"] != kind and not wrong:
            wrong = [f"the type is {kinds[f'x{i}']}, in Flink {of_flink}"]
        yield expression, "; ".join(wrong)


def _alone(answer: Any) -> Any:
    """The value of an aggregate over all rows."""
    return answer["all"] if isinstance(answer, dict) and "all" in answer else answer


def in_berlin(spark: SparkSession | None = None) -> tvfsql.Session:
    session = tvfsql.Session(spark, options={"table.local-time-zone": "Europe/Berlin"})
    session.execute(TABLE)
    return session


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.usefixtures("generated_code")
@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_expressions_are_those_of_flink_whatever_the_zone_of_sparks_session(spark: SparkSession, zone: str) -> None:
    """In `make test` one in three; all in soak."""
    before = spark.conf.get("spark.sql.session.timeZone")
    session = in_berlin(spark)
    same = [expression for expression in SAME if CASES[expression]["category"] != "aggregate"]
    if zone != "UTC":  # only what has to do with time can go by the zone
        same = [expression for expression in same if CASES[expression]["category"] == "temporal"]
    same = same if SOAK else same[::3]
    try:
        spark.conf.set("spark.sql.session.timeZone", zone)
        found = [pair for at in range(0, len(same), AT_ONCE) for pair in outcomes(session, same[at : at + AT_ONCE])]
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))
    assert {expression: wrong for expression, wrong in found if wrong} == {}


@pytest.mark.spark
@pytest.mark.usefixtures("generated_code")
def test_aggregates_without_a_window_are_those_of_flink(spark: SparkSession) -> None:
    same = [expression for expression in SAME if CASES[expression]["category"] == "aggregate"]
    session = in_berlin(spark)
    found = [pair for at in range(0, len(same), AT_ONCE) for pair in outcomes(session, same[at : at + AT_ONCE], "")]
    assert {expression: wrong for expression, wrong in found if wrong} == {}


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.usefixtures("generated_code")
def test_types_that_meet_become_those_of_flink(spark: SparkSession) -> None:
    """Arithmetic, CASE, casts, aggregates and the like of columns of all types; one in eight, and all in soak."""
    session = tvfsql.Session(spark, options={"table.local-time-zone": "Europe/Berlin"})
    session.execute(OF_TYPES["ddl"].replace("{path}", str(DATA / "flink_types_rows.json")))
    cases = {case["expr"]: case for case in OF_TYPES["cases"]}
    step = 1 if SOAK else 8
    for keys, category in (("id, ", None), ("", "aggregate")):
        asked = [expression for expression in cases if cases[expression].get("category") == category][::step]
        parts = [asked[at : at + AT_ONCE] for at in range(0, len(asked), AT_ONCE)]
        found = [pair for part in parts for pair in outcomes(session, part, keys, cases, "w")]
        assert {expression: wrong for expression, wrong in found if wrong} == {}


@pytest.mark.spark
@pytest.mark.usefixtures("generated_code")
def test_what_is_not_the_same_fails(spark: SparkSession) -> None:
    """One expression for each reason; the others are of the same kind."""
    session = in_berlin(spark)
    for reason, expressions in DIFFERENT["fails"].items():
        ((_, wrong),) = outcomes(session, expressions[:1], "" if "SUM" in expressions[0] else "id, ")
        assert wrong.startswith("fails"), (reason, expressions[0])


@pytest.mark.parametrize("expression", sorted(REFUSED))
def test_what_is_not_supported_is_refused_by_name(expression: str) -> None:
    with pytest.raises(tvfsql.TvfSqlError) as refused:
        tvfsql.compile(f"{TABLE}; SELECT {expression} AS x FROM t")
    assert refused.value.span is not None


def test_the_known_differences_are_expressions_that_were_measured() -> None:
    assert set(CASES) >= REFUSED | FAILS | DIFFERS
