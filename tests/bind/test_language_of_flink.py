"""What the binder knows of queries without Spark: their types are those of Flink 2.3 (tests/data/flink_language.json),
and CAST takes the pairs of types that Flink's takes (tests/data/flink_casts.json)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import tvfsql
from tvfsql.api import Compiled
from tvfsql.bind.flink.operators.cast_pairs import BEYOND, is_beyond
from tvfsql.plan.values.types import INT, SqlType

DATA = Path(__file__).parents[1] / "data"
LANGUAGE = json.loads((DATA / "flink_language.json").read_text(encoding="utf-8"))
CASTS = json.loads((DATA / "flink_casts.json").read_text(encoding="utf-8"))
TABLES = ";".join(table["ddl"] for table in LANGUAGE["tables"].values())
ZONE = "SET 'table.local-time-zone' = 'Europe/Berlin';"
SPARKS = {"BYTES": "binary", "TIMESTAMP(3)": "timestamp_ntz", "TIMESTAMP_LTZ(3)": "timestamp"}
UNLIKE = ("CHAR", "VARCHAR", "BINARY", "VARBINARY", "TIMESTAMP", "TIME", "ROW", "ARRAY", "MAP", "INTERVAL")
RANK = re.compile(r"ROW_NUMBER|RANK|NTILE")  # INT here
DIFFERENT = {sql for queries in LANGUAGE["different"].values() for sql in queries}


def compiled(query: str) -> Compiled:
    made = tvfsql.compile(f"{ZONE}{TABLES};{query}")
    assert isinstance(made, Compiled)
    return made


def test_types_of_queries_are_those_of_flink() -> None:
    wrong = {}
    cases = [case for case in LANGUAGE["cases"] if case["sql"] not in DIFFERENT]
    for case in cases[::2]:
        for field, kind in zip(compiled(case["sql"]).logical.schema, case["types"], strict=True):
            wanted = kind.removesuffix(" NOT NULL")
            rank = field.type == INT and wanted == "BIGINT" and RANK.search(case["sql"])
            if (
                not rank
                and not wanted.startswith(UNLIKE)
                and field.type.spark != SPARKS.get(wanted, wanted.lower().replace(" ", ""))
            ):
                wrong[case["sql"]] = (field, wanted)
    assert len(cases) > 150
    assert wrong == {}


def kind_of(value: str) -> SqlType:
    return compiled(f"SELECT {value} AS x FROM t").logical.schema[0].type


def test_casts_are_those_of_flink() -> None:
    kinds = {name: kind_of(value) for name, value in CASTS["values"].items()}
    wrong = []
    for source, value in CASTS["values"].items():
        for target in CASTS["values"]:
            try:
                compiled(f"SELECT CAST({value} AS {target}) AS x FROM t")
                takes = True
            except tvfsql.TvfSqlError:
                takes = False
            to_itself = source == target and source.startswith("INTERVAL")  # the reader of types has no intervals
            same = takes == (target in CASTS["casts"][source])
            if not (same or to_itself or is_beyond(kinds[source], kinds[target])):
                wrong.append((source, target, takes))
    assert wrong == []
    assert {one for one, _ in BEYOND} == {"timestamp", "time"}


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("CAST(l AS TIMESTAMP(3))", "TO_TIMESTAMP_LTZ(l, 3)"),
        ("CAST(id AS TIMESTAMP_LTZ(3))", "TO_TIMESTAMP_LTZ(id, 0)"),
        ("TRY_CAST(l AS TIMESTAMP(3))", "TO_TIMESTAMP_LTZ(l, 3)"),
        ("TO_TIMESTAMP(l)", "TO_TIMESTAMP_LTZ(x, 3)"),
        ("DATE_FORMAT(id, 'yyyy')", "DATE_FORMAT(TO_TIMESTAMP_LTZ(x, 0), ...)"),
        ("MD5(id)", "MD5(CAST(x AS STRING))"),
        ("GREATEST(id, s)", "GREATEST(CAST(x AS STRING), ...)"),
        ("COUNT(*) FILTER (WHERE id) OVER ()", "x <> 0"),
        ("r.z", "fields: x, y"),
        ("r.yy", "did you mean y?"),
        ("dt < tsl", "CAST(dt AS TIMESTAMP_LTZ(3)), or CAST(ts AS DATE)"),
        ("DATEADD(day, 1, ts)", "TIMESTAMPADD(DAY, n, ts), or ts + INTERVAL '1' DAY"),
        ("DATEADD('day', 1, ts)", "TIMESTAMPADD(DAY, n, ts), or ts + INTERVAL '1' DAY"),
        ("DATEPART(year, ts)", "EXTRACT(YEAR FROM ts)"),
        ("getdate()", "LOCALTIMESTAMP"),
        ("SYSDATE", "LOCALTIMESTAMP"),
        ("CONVERT(INT, s)", "CAST(x AS INT)"),
        ("JSON_OBJECT(KEY id VALUE s)", "CAST(x AS STRING)"),
    ],
)
def test_what_a_type_tells_is_refused_when_a_query_is_compiled(value: str, hint: str) -> None:
    for query in (f"SELECT {value} AS y FROM t", f"SELECT {value} AS y, SUM(id) OVER () AS z FROM t"):
        with pytest.raises(tvfsql.TvfSqlError) as caught:
            compiled(query)
        assert caught.value.hint == hint


def test_epoch_milliseconds_have_a_hint_that_works() -> None:
    table = "CREATE TABLE k (ms BIGINT{}) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = 'k');"
    query = "SELECT COUNT(*) AS n FROM TABLE(TUMBLE(TABLE k, DESCRIPTOR({}), INTERVAL '1' HOUR)) GROUP BY window_start"
    with pytest.raises(tvfsql.TvfSqlError) as caught:
        tvfsql.compile(table.format("") + query.format("ms"))
    assert (
        caught.value.hint
        == "declare rt AS TO_TIMESTAMP_LTZ(ms, 3) and a WATERMARK in CREATE TABLE, then DESCRIPTOR(rt)"
    )
    with pytest.raises(tvfsql.TvfSqlError) as caught:
        tvfsql.compile(table.format(", WATERMARK FOR ms AS ms"))
    hint = str(caught.value.hint)
    assert hint == "rt AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR rt AS rt"
    with pytest.raises(tvfsql.TvfSqlError) as caught:
        tvfsql.compile(table.format(f", {hint}") + query.format("ms"))
    assert caught.value.hint == "DESCRIPTOR(rt), which has the WATERMARK"
    tvfsql.compile(table.format(f", {hint}") + query.format("rt"))


def test_a_watermark_has_the_type_of_its_column() -> None:
    with pytest.raises(tvfsql.TvfSqlError, match="the watermark of ts must be"):
        tvfsql.compile("CREATE TABLE k (ts TIMESTAMP(3), v INT, WATERMARK FOR ts AS v) WITH ('connector' = 'print')")
