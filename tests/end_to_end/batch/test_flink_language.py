"""Queries beside the rows and types of Flink 2.3 (tests/data/flink_language.json): names in scopes, fields of ROWs,
comparisons of every form, text and numbers, what INSERT stores."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from test_flink_functions import TYPES, agrees, plain

import tvfsql
from tests.support.examples import SOAK

DATA = json.loads((Path(__file__).parents[2] / "data" / "flink_language.json").read_text(encoding="utf-8"))
DIFFERENT = {sql for queries in DATA["different"].values() for sql in queries}
CASES = [case for case in DATA["cases"] if case["sql"] not in DIFFERENT]
STEP = 1 if SOAK else 3
ALWAYS = ("OVER", "p.", "LATERAL", "tsl", "USING", "IN (", "el WHERE")  # what the faults were in
RANK = re.compile(r"ROW_NUMBER|RANK|NTILE")  # INT here
# types of Flink that say more than Spark's
UNLIKE = ("CHAR", "VARCHAR", "BINARY", "VARBINARY", "TIMESTAMP", "TIME", "ROW", "ARRAY", "MAP", "INTERVAL")


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tvfsql.Session:
    path = tmp_path_factory.mktemp("language")
    made = tvfsql.Session(spark, options={"table.local-time-zone": "Europe/Berlin"})
    for name, table in DATA["tables"].items():
        (path / name).mkdir()
        (path / name / "rows.json").write_text("\n".join(map(json.dumps, table["rows"])), encoding="utf-8")
        made.execute(table["ddl"].replace("{path}", str(path)))
    return made


@pytest.mark.spark
def test_queries_are_those_of_flink(session: tvfsql.Session) -> None:
    often = [case for case in CASES if any(word in case["sql"] for word in ALWAYS)]
    others = [case for case in CASES if case not in often]
    assert len(CASES) > 100
    wrong = {case["sql"]: found for case in (*often, *others[::STEP]) if (found := _wrong(session, case))}
    assert wrong == {}


def _wrong(session: tvfsql.Session, case: dict[str, Any]) -> str:
    """What is wrong with the rows or types of a query; "" if nothing is."""
    try:
        frame = session.sql(case["sql"]).dataframe()
        rows = [*map(plain, frame.collect())]
    except tvfsql.TvfSqlError as error:
        return f"refused: {error}"
    kinds = [kind.removesuffix(" NOT NULL") for kind in case["types"]]
    for name, got, kind in zip(frame.columns, (kind for _, kind in frame.dtypes), kinds, strict=True):
        rank = got == "int" and kind == "BIGINT" and RANK.search(case["sql"])
        if not rank and not kind.startswith(UNLIKE) and got != TYPES.get(kind, kind.lower().replace(" ", "")):
            return f"{name} is {got}, in Flink {kind}"
    rows, expected = sorted(rows, key=str), sorted(case["rows"], key=str)
    same = len(rows) == len(expected) and all(
        agrees(one, other, kind)
        for row, answer in zip(rows, expected, strict=True)
        for one, other, kind in zip(row, answer, kinds, strict=True)
    )
    return "" if same else f"rows {rows}, in Flink {expected}"
