"""The rows that Flink gives, in batch on Spark: windows of window_tvf.json, aggregated, ranked and alone.

A batch has no late rows. The one late row of table T1 (the 8th, 00:00:04 for `a`, which comes after 00:00:08)
counts in every window that holds it; LATE says which expected rows differ for it.
"""

from __future__ import annotations

import csv
import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.models.random_windows import IN_PYTHON, STRATEGY
from tests.support.flink_cases import CASES, HERE, JOINS, QUERIES, inputs, options_of, plain, written
from tvfsql import Session
from tvfsql.api.result import Result
from tvfsql.errors import UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHARED = HERE.parents[1] / "shared" / "cases" / "window_tvf.json"

NOON = "2020-10-10 00:00:"
A_0_5 = (["a", NOON + "00.000", NOON + "05.000"], [4, "11.10", 5.0, 1.0, 2], [5, "16.65", 5.0, 1.0, 2])
LATE: dict[str, list[tuple[list[Any], list[Any]]]] = {  # rows with the late row dropped, and with it
    "tumble_5s_event_time": [(A_0_5[0] + A_0_5[1], A_0_5[0] + A_0_5[2])],
    "tumble_5s_grouping_sets": [
        ([0, *A_0_5[0], *A_0_5[1]], [0, *A_0_5[0], *A_0_5[2]]),
        ([1, None, *A_0_5[0][1:], *A_0_5[1]], [1, None, *A_0_5[0][1:], *A_0_5[2]]),
    ],
    "hop_slide5_size10": [
        (
            ["a", "2020-10-09 23:59:55.000", NOON + "05.000", *A_0_5[1]],
            ["a", "2020-10-09 23:59:55.000", NOON + "05.000", *A_0_5[2]],
        )
    ],
    "distinct_split_hop": [
        (
            ["a", "2020-10-09 23:59:55.000", NOON + "05.000", *A_0_5[1]],
            ["a", "2020-10-09 23:59:55.000", NOON + "05.000", *A_0_5[2]],
        )
    ],
    "cumulate_step5_max15": [(A_0_5[0] + A_0_5[1], A_0_5[0] + A_0_5[2])],
    "tumble_5s_timestamp_ltz_shanghai": [
        ([*A_0_5[0], "2020-10-09T16:00:04.999Z", 4], [*A_0_5[0], "2020-10-09T16:00:04.999Z", 5])
    ],
    "cumulate_emit_only_on_update_true": [
        ([10, NOON + "00.000", NOON + "05.000"], [15, NOON + "00.000", NOON + "05.000"])  # the late row's int is 5
    ],
    "topn_tumble_agg_top2": [(A_0_5[0] + A_0_5[1] + [1], A_0_5[0] + A_0_5[2] + [1])],
    "cascade_tumble5_tumble10": [
        (
            ["a", NOON + "00.000", NOON + "10.000", 5, "14.43", 5.0, 1.0, 3],
            ["a", NOON + "00.000", NOON + "10.000", 6, "19.98", 5.0, 1.0, 3],
        )
    ],
}
# TUMBLE over a whole day closes no window before the late row comes; it ties with the last row and has a NULL more; a
# window function alone drops no late row; where windows are joined another row has the late one's string too; it joins
# a session that is open
SESSIONS = ["tvf_standalone_session", "session_gap5_partition_by_name"]
UNHARMED = {"tumble_1d_offset_plus_8h", "dedup_tumble_keep_last", "tvf_standalone_hop", *JOINS, *SESSIONS}


def test_the_copy_of_the_cases_is_the_shared_file() -> None:
    if not SHARED.exists():
        pytest.skip("put the project's shared/ folder beside the repository to compare with it")
    assert (HERE / "data" / "window_tvf.json").read_bytes() == SHARED.read_bytes()


def test_every_case_with_a_late_row_says_what_it_changes() -> None:
    assert len(QUERIES) == 28
    with_late_row = {name for name in QUERIES if "T1" in CASES[name]["input_table"]}
    assert with_late_row == {*LATE} | UNHARMED


@pytest.mark.spark
@pytest.mark.parametrize("name", QUERIES)
def test_the_rows_are_those_of_flink(name: str, spark: SparkSession, tmp_path: Path) -> None:
    """In each strategy of aggregation, and with slices made in Python; what has the same program is run once."""
    case = CASES[name]
    programs = set()
    for way in ({}, {STRATEGY: "ONE_PHASE"}, {STRATEGY: "TWO_PHASE"}, IN_PYTHON):
        session = Session(spark, options={**way, **options_of(case)})
        _make_tables(session, case, "json", tmp_path)
        if "ONE_PHASE" in way.values() and "emit_only_on_update" in name:
            with pytest.raises(UnsupportedError, match="emits only on update"):
                session.execute(case["query"])
            continue
        *_, result = session.execute(case["query"])
        assert ("split" in name) == any(step.rule == "split_distinct" for step in result.query.steps)
        if result.query.code not in programs:
            programs.add(result.query.code)
            _assert_rows(name, result)


# each input once: alone, in a join, and with a time that is an instant
INPUTS = ("docs_bid_cumulate_2m_10m", "docs_join_full", "join_inner", "tumble_5s_timestamp_ltz_shanghai")


@pytest.mark.spark
@pytest.mark.parametrize("form", ["csv", "registered"])
@pytest.mark.parametrize("name", INPUTS)
def test_inputs_may_be_csv_or_dataframes(name: str, form: str, spark: SparkSession, tmp_path: Path) -> None:
    session = Session(spark, options=options_of(CASES[name]))
    _make_tables(session, CASES[name], form, tmp_path)
    *_, result = session.execute(CASES[name]["query"])
    _assert_rows(name, result)


def test_every_input_is_tried_in_all_forms() -> None:
    def shape(table: dict[str, Any]) -> str:
        return repr((table["name"], table["columns"], table.get("computed_columns") or [], table["watermark"]))

    every, tried = ({shape(table) for name in names for table in inputs(CASES[name])} for names in (QUERIES, INPUTS))
    assert tried == every


def _assert_rows(name: str, result: Result) -> None:
    frame = result.dataframe()
    assert [kind for _, kind in frame.dtypes] == [_spark_type(kind) for _, kind in CASES[name]["expected_columns"]]
    assert result.query.columns == tuple(frame.columns)
    for field, (column, kind) in zip(result.query.physical.schema, frame.dtypes, strict=True):
        assert field.type.spark == kind, f"the plan promises another type for {column}"
    assert written([plain(value, field.dataType.typeName()) for value, field in zip(row, frame.schema, strict=True)]
                for row in frame.collect()) == written(_expected(name))  # fmt: skip


@pytest.mark.spark
def test_named_arguments_give_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    asked = 0
    for name in QUERIES:
        if "alt_query_named_args" in CASES[name]:
            session = Session(spark)
            _make_tables(session, CASES[name], "json", tmp_path)
            frame = session.sql(CASES[name]["alt_query_named_args"]).dataframe()
            kinds = [field.dataType.typeName() for field in frame.schema]
            rows = written(list(map(plain, row, kinds)) for row in frame.collect())
            assert rows == written(_expected(name))
            asked += 1
    assert asked


def _expected(name: str) -> list[list[Any]]:
    rows: list[list[Any]] = CASES[name]["expected_rows"]
    for dropped, counted in LATE.get(name, []):
        assert rows.count(dropped) == 1
        rows = [counted if row == dropped else row for row in rows]
    return rows


def _make_tables(session: Session, case: dict[str, Any], form: str, folder: Path) -> None:
    for table in inputs(case):
        _make_table(session, table, form, folder)


def _make_table(session: Session, case: dict[str, Any], form: str, folder: Path) -> None:
    """An input of a case: a file behind CREATE TABLE, or (`registered`) a DataFrame."""
    columns = [(name, kind.removesuffix(" *ROWTIME*")) for name, kind in case["columns"]]
    computed = [(name, kind.split(" AS ")[1]) for name, kind in case.get("computed_columns", ())]
    if form == "registered":
        fields = ", ".join(f"`{name}` {_spark_type(kind)}" for name, kind in columns)
        rows = [[_typed(value, kind) for value, (_, kind) in zip(row, columns, strict=True)] for row in case["rows"]]
        frame = session.spark.createDataFrame(rows, fields)
        for name, sql in computed:
            spark_sql = sql.replace("TO_TIMESTAMP(", "to_timestamp_ntz(").replace(
                "TO_TIMESTAMP_LTZ(", "timestamp_millis("
            )
            frame = frame.selectExpr("*", f"{spark_sql.replace(', 3)', ')')} AS `{name}`")
        session.register(case["name"], frame, watermark=case["watermark"])
        return
    file = folder / f"{case['name']}.{form}"
    if form == "json":
        lines = [dict(zip([name for name, _ in columns], row, strict=True)) for row in case["rows"]]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    else:
        with file.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows(case["rows"])  # NULL is an empty field
    parts = [f"`{name}` {kind}" for name, kind in columns]
    parts += [f"`{name}` AS {sql}" for name, sql in computed]
    parts += [f"WATERMARK FOR {case['watermark'].split()[0]} AS {case['watermark']}"]
    session.execute(
        f"CREATE TABLE {case['name']} ({', '.join(parts)}) "
        f"WITH ('connector' = 'filesystem', 'path' = '{file}', 'format' = '{form}')"
    )


def _spark_type(flink: str) -> str:
    kind = flink.split(" ")[0]
    times = {"TIMESTAMP(3)": "timestamp_ntz", "TIMESTAMP_LTZ(3)": "timestamp"}
    return times.get(kind, kind.lower())


def _typed(value: Any, kind: str) -> Any:
    if value is None:
        return None
    if kind.startswith("DECIMAL"):
        return Decimal(value)
    return datetime.fromisoformat(value) if kind.startswith("TIMESTAMP") else value
