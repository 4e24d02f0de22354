"""Whole queries beside the rows and types of Flink 2.3 (tests/data/flink_queries.json): where types meet, and where
Spark plans the query."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from test_flink_functions import TABLE, TYPES, agrees, in_berlin, plain

import tvfsql

QUERIES = json.loads((Path(__file__).parents[2] / "data" / "flink_queries.json").read_text(encoding="utf-8"))
CASES, REFUSED = QUERIES["cases"], QUERIES["refused"]


@pytest.mark.spark
@pytest.mark.usefixtures("generated_code")
def test_queries_are_those_of_flink(spark: SparkSession) -> None:
    session = in_berlin(spark)
    session.execute(TABLE.replace("CREATE TABLE t (", "CREATE TABLE t2 ("))
    assert {case["sql"]: wrong for case in CASES if (wrong := _wrong(session, case))} == {}


def test_types_that_do_not_meet_are_refused_as_in_flink() -> None:
    for sql, message in REFUSED.items():
        with pytest.raises(tvfsql.TvfSqlError, match=message):
            tvfsql.compile(f"{TABLE}; {TABLE.replace('CREATE TABLE t (', 'CREATE TABLE t2 (')}; {sql}")


def _wrong(session: tvfsql.Session, case: dict[str, Any]) -> str:
    """What is wrong with the rows or types of a query; "" if nothing is."""
    frame = session.sql(case["sql"]).dataframe()
    kinds = [kind.removesuffix(" NOT NULL") for kind in case["types"]]
    wanted = [TYPES.get(kind, kind.lower().replace(" ", "")) for kind in kinds]
    got = [kind for _, kind in frame.dtypes]
    if got != wanted:
        return f"types {got}, in Flink {wanted}"

    def order(row: list[Any]) -> list[tuple[float, str]]:
        """Floating-point numbers may differ in the digits of their texts."""
        floats = (kind in ("FLOAT", "DOUBLE") and value is not None for value, kind in zip(row, kinds, strict=True))
        return [(float(f"{float(v):.6e}"), "") if of else (0, str(v)) for v, of in zip(row, floats, strict=True)]

    rows, expected = sorted(map(plain, frame.collect()), key=order), sorted(case["rows"], key=order)
    same = len(rows) == len(expected) and all(
        agrees(one, other, kind)
        for row, answer in zip(rows, expected, strict=True)
        for one, other, kind in zip(row, answer, kinds, strict=True)
    )
    return "" if same else f"rows {rows}, in Flink {expected}"
