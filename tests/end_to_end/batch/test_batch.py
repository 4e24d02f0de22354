"""Batch runs at their edges: overflow, types, no rows, no time, one giant key, time zones, odd names."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import tvfsql
from tests.support.examples import SOAK
from tvfsql import Session
from tvfsql.api.program import Program
from tvfsql.errors import DataError, TvfSqlError
from tvfsql.runtime.frames.dead_letters import counting_dropped

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("generated_code")]

TUMBLE = "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE)"
HOP = "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE)"
CUMULATE = "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE)"
WINDOWS = (TUMBLE, HOP, CUMULATE)
PHASES = ("ONE_PHASE", "TWO_PHASE")
NOON = datetime(2020, 4, 15, 12)
MINUTE = timedelta(minutes=1)


def kind(windows: str) -> str:
    return windows.partition("(")[0].lower()


def session(spark: SparkSession, rows: list[tuple[Any, ...]], columns: str, **options: str) -> Session:
    """A session whose table `t` has these rows; `phase` is the aggregation's strategy."""
    names = {"phase": "table.optimizer.agg-phase-strategy", "nulls": "table.exec.source.rowtime-null-handling",
             "zone": "table.local-time-zone"}  # fmt: skip
    made = Session(spark, options={names[name]: value for name, value in options.items()})
    made.register("t", spark.createDataFrame(rows, columns))
    return made


def total(windows: str, call: str, keys: str = "") -> str:
    columns = f"window_start, window_end{keys}"
    return f"SELECT {columns}, {call} AS total FROM TABLE({windows}) GROUP BY {columns}"


def of_all(query: str, windows: Sequence[str] = WINDOWS) -> str:
    """A query over `{w}` for windows of every kind, `{i}` of them, in one."""
    return " UNION ALL ".join(query.replace("{w}", each).replace("{i}", str(i)) for i, each in enumerate(windows))


def found_by_kind(rows: Sequence[Any], column: str = "total") -> dict[int, set[Any]]:
    """The values of a column by the column `kind`."""
    found: dict[int, set[Any]] = {}
    for row in rows:
        found.setdefault(row["kind"], set()).add(row[column])
    return found


# ------------------------------------------------------------------------------------------ overflow and types


TOTALS = "SELECT {i} AS kind, window_start, window_end, CALL AS total FROM TABLE({w}) GROUP BY window_start, window_end"


@pytest.mark.soak
@pytest.mark.soak
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *([("TINYINT", 127), ("INT", 2**31 - 1)] if SOAK else []),
        ("BIGINT", 2**63 - 1),
        ("DECIMAL(38,0)", Decimal(10**38 - 1)),
    ],
)
def test_a_sum_that_does_not_fit_is_an_error(spark: SparkSession, phase: str, kind: str, value: Any) -> None:
    """Each slice of five minutes holds one value, which fits; the window of ten minutes holds two. In one phase Spark
    adds up the copies of rows, in windows of any kind."""
    rows = [(NOON + 2 * MINUTE, value), (NOON + 7 * MINUTE, value)]
    one = session(spark, rows[:1], f"ts TIMESTAMP_NTZ, v {kind}", phase=phase)
    fitting = one.sql(of_all(TOTALS.replace("CALL", "SUM(v)"))).collect()
    assert found_by_kind(fitting) == {i: {value} for i in range(len(WINDOWS))}
    both = session(spark, rows, f"ts TIMESTAMP_NTZ, v {kind}", phase=phase)
    for windows in WINDOWS if phase == "TWO_PHASE" and (SOAK or kind == "BIGINT") else (HOP,):
        with pytest.raises(DataError, match=r"too large|does not fit|overflow"):
            both.sql(total(windows, "SUM(v)")).collect()


@pytest.mark.parametrize("windows", (HOP, CUMULATE), ids=kind)
def test_sums_of_distinct_values_take_the_smallest_integers_and_refuse_what_does_not_fit(
    spark: SparkSession, windows: str
) -> None:
    rows = [(NOON + 2 * MINUTE, -(2**31)), (NOON + 3 * MINUTE, -(2**31)), (NOON + 7 * MINUTE, 5)]
    one = session(spark, rows, "ts TIMESTAMP_NTZ, v INT")
    found = {
        (row.window_start, row.window_end): row.total for row in one.sql(total(windows, "SUM(DISTINCT v)")).collect()
    }
    assert found[NOON, NOON + 10 * MINUTE] == 5 - 2**31
    two = session(spark, [*rows, (NOON + 8 * MINUTE, -6)], "ts TIMESTAMP_NTZ, v INT")
    with pytest.raises(DataError, match="too large"):
        two.sql(total(windows, "SUM(DISTINCT v)")).collect()


TYPES = {
    "COUNT(*)": "bigint", "COUNT(DISTINCT i)": "bigint", "APPROX_COUNT_DISTINCT(i)": "bigint",
    "SUM(y)": "tinyint", "SUM(h)": "smallint", "SUM(i)": "int", "SUM(b)": "bigint", "SUM(r)": "float",
    "SUM(d)": "double", "SUM(p)": "decimal(38,2)", "SUM(q)": "decimal(38,10)", "SUM(DISTINCT i)": "int",
    "SUM(DISTINCT p)": "decimal(38,2)", "AVG(y)": "tinyint", "AVG(i)": "int", "AVG(b)": "bigint",
    "AVG(r)": "float", "AVG(d)": "double", "AVG(p)": "decimal(38,6)", "AVG(q)": "decimal(38,10)",
    "AVG(DISTINCT i)": "int", "AVG(DISTINCT p)": "decimal(38,6)", "MIN(i)": "int", "MAX(p)": "decimal(10,2)",
    "MIN(ts)": "timestamp_ntz", "MAX(z)": "timestamp", "FIRST_VALUE(s)": "string", "LAST_VALUE(r)": "float",
    "LISTAGG(s)": "string", "COLLECT(i)": "map<int,int>", "ARRAY_AGG(p)": "array<decimal(10,2)>",
    "BOOL_AND(f)": "boolean", "BOOL_OR(f)": "boolean", "STDDEV_POP(i)": "int", "STDDEV_SAMP(p)": "decimal(38,6)",
    "VAR_POP(d)": "double", "VAR_SAMP(r)": "float", "SUM(i) + 1": "int",
}  # fmt: skip


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("windows", WINDOWS, ids=kind)
def test_results_have_flinks_types(spark: SparkSession, windows: str, phase: str) -> None:
    columns = (
        "ts TIMESTAMP_NTZ, z TIMESTAMP, y TINYINT, h SMALLINT, i INT, b BIGINT, r FLOAT, d DOUBLE, "
        "p DECIMAL(10,2), q DECIMAL(20,10), s STRING, f BOOLEAN"
    )
    row = (NOON, NOON, 1, 1, 1, 1, 1.0, 1.0, Decimal(1), Decimal(1), "s", True)
    calls = ", ".join(f"{sql} AS c{i}" for i, sql in enumerate(TYPES))
    result = session(spark, [row], columns, phase=phase).sql(
        f"SELECT window_start, window_end, window_time, {calls} FROM TABLE({windows}) "
        "GROUP BY window_start, window_end, window_time"
    )
    frame = result.dataframe()
    found = dict(zip(("start", "end", "time", *TYPES), (kind for _, kind in frame.dtypes), strict=True))
    assert found == {**dict.fromkeys(("start", "end", "time"), "timestamp_ntz"), **TYPES}
    promised = {field.name: field.type.spark for field in result.query.physical.schema if field.type}
    assert promised.items() <= dict(frame.dtypes).items()
    assert frame.count() == (2 if windows != TUMBLE else 1)


@pytest.mark.parametrize("phase", PHASES)
def test_an_average_of_integers_is_cut_towards_zero(spark: SparkSession, phase: str) -> None:
    rows = [(NOON + minute * MINUTE, value) for minute, value in enumerate((-3, -4, 0, -1, None))]
    made = session(spark, rows, "ts TIMESTAMP_NTZ, v INT", phase=phase)
    found = made.sql(of_all(TOTALS.replace("CALL", "AVG(v)"))).collect()
    assert found_by_kind(found) == {i: {-2} for i in range(len(WINDOWS))}


@pytest.mark.parametrize("phase", PHASES)
def test_arguments_may_be_constants_or_nested_values(spark: SparkSession, phase: str) -> None:
    made = session(spark, [(NOON, [3]), (NOON + MINUTE, [1, 2])], "ts TIMESTAMP_NTZ, v ARRAY<INT>", phase=phase)
    calls = {
        "COUNT(NULL)": 0, "COUNT(1)": 2, "COUNT(DISTINCT 7)": 1, "SUM(2)": 4, "MAX(TRUE)": True, "MIN(v)": [1, 2],
        "FIRST_VALUE(v)": [3], "COUNT(DISTINCT v)": 2, "ARRAY_AGG(v)": [[3], [1, 2]],
    }  # fmt: skip
    names = ", ".join(f"{sql} AS c{i}" for i, sql in enumerate(calls))
    rows = made.sql(
        of_all(f"SELECT {names}, {{i}} AS kind FROM TABLE({{w}}) GROUP BY window_start, window_end")
    ).collect()
    assert {row.kind for row in rows} == {0, 1, 2}
    for *values, _ in rows:
        assert dict(zip(calls, values, strict=True)) == calls


# ------------------------------------------------------------------------------------------ nothing, and no time


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("keys", ["", ", k"])
def test_no_rows_in_no_rows_out(spark: SparkSession, keys: str, phase: str) -> None:
    empty = session(spark, [], "ts TIMESTAMP_NTZ, k STRING, v INT", phase=phase)
    assert empty.sql(of_all(total("{w}", "COUNT(*) + COUNT(DISTINCT v) + SUM(v)", keys))).collect() == []


@pytest.mark.soak
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("kind", ["TIMESTAMP_NTZ", "TIMESTAMP"])
def test_a_null_time_fails_or_is_dropped_and_counted(spark: SparkSession, phase: str, kind: str) -> None:
    rows = [(NOON, 1), (None, 2), (NOON + MINUTE, 3), (None, 4)]
    failing = session(spark, rows, f"ts {kind}, v INT", phase=phase)
    for windows in WINDOWS if SOAK or kind == "TIMESTAMP" else (HOP,):
        with pytest.raises(DataError, match="the time column ts is NULL in some row") as raised:
            failing.sql(total(windows, "SUM(v)")).collect()
        assert "DROP" in str(raised.value.hint)
    drop = session(spark, rows, f"ts {kind}, v INT", phase=phase, nulls="DROP")
    with counting_dropped() as dropped:
        found = drop.sql(of_all(TOTALS.replace("CALL", "SUM(v) + COUNT(DISTINCT v)"))).collect()
    assert found_by_kind(found) == {i: {6} for i in range(len(WINDOWS))}
    assert dropped.counts == {"numNullRowTimeRecordsDropped (ts)": 2 * len(WINDOWS)}


def test_a_null_time_fails_where_no_column_of_the_window_is_asked_for(spark: SparkSession) -> None:
    rows = [(NOON, 1), (None, 2)]
    with pytest.raises(DataError, match="the time column ts is NULL"):
        session(spark, rows, "ts TIMESTAMP_NTZ, v INT").sql(f"SELECT v FROM TABLE({CUMULATE})").collect()


def test_a_plan_that_spark_refuses_is_not_taken_for_a_null_time(spark: SparkSession) -> None:
    made = session(spark, [(NOON, [1])], "ts TIMESTAMP_NTZ, v ARRAY<INT>")
    with pytest.raises(TvfSqlError) as raised:
        made.sql(total(TUMBLE, "LISTAGG(v)")).collect()
    assert "time column" not in raised.value.message


# ------------------------------------------------------------------------------------------ size, zones, names


@pytest.mark.soak
def test_one_key_may_have_hundreds_of_thousands_of_slices(spark: SparkSession) -> None:
    slices = 300_000 if SOAK else 180_000
    made = Session(spark)
    made.register(
        "t",
        spark.range(slices).selectExpr(
            "timestampadd(SECOND, id, timestamp_ntz'2020-01-01') AS ts", "id AS v", "id % 90 AS u", "'k' AS k"
        ),
    )
    hop = "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '1' MINUTE)"
    calls = "SUM(v) AS s, MAX(v) AS m, COUNT(*) AS n, COUNT(DISTINCT u) AS u"
    minute = made.sql(f"SELECT k, {calls} FROM TABLE({hop}) GROUP BY k, window_start, window_end").dataframe()
    sums = minute.selectExpr("count(*)", "sum(s)", "max(m)", "min(n)", "max(n)", "sum(n)", "max(u)", "sum(u)").collect()
    assert tuple(sums[0]) == (slices + 59, 30 * slices * (slices - 1), slices - 1, 1, 60, 60 * slices, 60, 60 * slices)

    day = "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '1' DAY)"
    days = made.sql(f"SELECT {calls}, window_end AS e FROM TABLE({day}) GROUP BY window_start, window_end").dataframe()
    full = days.where("e = timestamp_ntz'2020-01-02' OR e = timestamp_ntz'2020-01-03'").orderBy("e").collect()
    assert [tuple(row)[1:4] for row in full] == [(86_399, 86_400, 90), (2 * 86_400 - 1, 86_400, 90)]
    assert days.count() == -(-slices // 86_400) * 86_400  # the last day goes on to its end


SOME_TIMES = [NOON + timedelta(hours=hours, milliseconds=hours) for hours in range(-50_000, 50_000, 997)]


@pytest.mark.soak
@pytest.mark.parametrize(
    ("phase", "kind"),
    [
        ("ONE_PHASE", "TIMESTAMP"),
        ("TWO_PHASE", "TIMESTAMP"),
        ("TWO_PHASE", "TIMESTAMP_NTZ"),
        *([("ONE_PHASE", "TIMESTAMP_NTZ")] if SOAK else []),
    ],
)
def test_rows_do_not_depend_on_sparks_session_zone(spark: SparkSession, kind: str, phase: str) -> None:
    instants = spark.createDataFrame([(time, i) for i, time in enumerate(SOME_TIMES)], "ts TIMESTAMP_NTZ, v INT")
    if kind == "TIMESTAMP":
        instants = instants.selectExpr(
            "timestamp_millis(timestampdiff(MILLISECOND, timestamp_ntz'1970-01-01', ts)) AS ts", "v"
        )
    instants = instants.localCheckpoint()
    windows = (
        "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY)",
        "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '8' HOUR, INTERVAL '1' DAY)",
        "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '8' HOUR, INTERVAL '1' DAY)",
    )
    bounds, calls = "window_start, window_end, window_time", "COUNT(*) AS n, LAST_VALUE(v) AS v"
    query = of_all(f"SELECT {{i}} AS kind, {bounds}, {calls} FROM TABLE({{w}}) GROUP BY {bounds}", windows)
    found: dict[str, list[Row]] = {}
    for zone in ("UTC", "America/Los_Angeles"):
        with_zone(spark, zone)
        try:
            made = Session(
                spark, options={"table.optimizer.agg-phase-strategy": phase, "table.local-time-zone": "Europe/Berlin"}
            )
            made.register("t", instants)
            found[zone] = sorted(made.sql(query).rows()[2])
        finally:
            with_zone(spark, "UTC")
    assert found["UTC"] == found["America/Los_Angeles"]
    assert {row.kind for row in found["UTC"]} == {0, 1, 2}
    assert all(row.window_time == row.window_end - timedelta(milliseconds=1) for row in found["UTC"])


def with_zone(spark: SparkSession, zone: str) -> None:
    spark.conf.set("spark.sql.session.timeZone", zone)


# The names that emitted code and the runtime use themselves, in both cases, and names that need quotes.
NAMES = ("slice", "slice_end", "window", "value", "rows", "change", "gone", "start", "end", "a.b", "q`q",
         "window_end0", "F", "spark", "count", "ts2", "struct", "Slice_End", "x y", 'd"q', "{b}", "\\n")  # fmt: skip


@pytest.mark.soak
@pytest.mark.parametrize("phase", PHASES)
def test_columns_may_have_any_name(spark: SparkSession, phase: str) -> None:
    """As a key, as an aggregate's argument and as what an aggregate is called. One phase: HOP alone in `make test`."""
    source = random.Random(1)
    rows = [(NOON + source.randrange(30) * MINUTE, source.randrange(2), source.randrange(3)) for _ in range(40)]
    plain = session(spark, rows, "ts TIMESTAMP_NTZ, k INT, v INT", phase=phase)
    calls = "COUNT(DISTINCT {v}) AS {a}, SUM({v}) AS {b}, SUM(DISTINCT {v}) AS {c}, LAST_VALUE({v}) AS {d}"
    bounds = "window_start, window_end"
    of_each = "SELECT {{i}}, {k}, {bounds}, {calls} FROM TABLE({{w}}) GROUP BY {k}, {bounds}"

    def shape(**names: str) -> str:
        windows = WINDOWS if SOAK or phase == "TWO_PHASE" else (HOP,)
        return of_all(of_each.format(k=names["k"], bounds=bounds, calls=calls.format(**names)), windows)

    wanted = Counter(map(tuple, plain.sql(shape(k="k", v="v", a="a", b="b", c="c", d="d")).collect()))
    for i in range(0, len(NAMES), 4):
        key, argument, first, second, third = (NAMES[(i + j) % len(NAMES)] for j in range(5))
        names = (key, argument, first, second, argument, third)
        quoted = {hole: "`" + name.replace("`", "``") + "`" for hole, name in zip("kvabcd", names, strict=True)}
        odd = Session(spark, options={"table.optimizer.agg-phase-strategy": phase})
        frame = spark.createDataFrame(rows, "ts TIMESTAMP_NTZ, k INT, v INT").toDF("ts", key, argument)
        odd.register("t", frame)
        assert Counter(map(tuple, odd.sql(shape(**quoted)).collect())) == wanted, quoted


# ------------------------------------------------------------------------------------------ the text runs


def test_the_text_of_the_code_is_what_runs(spark: SparkSession) -> None:
    rows = [(NOON + minute * MINUTE, minute % 3, minute) for minute in range(30)]
    made = session(spark, rows, "ts TIMESTAMP_NTZ, k INT, v INT")
    query = tvfsql.compile(
        of_all(
            "SELECT {i} AS kind, k, window_start, window_end, SUM(v) AS s, COUNT(DISTINCT v) AS u FROM TABLE({w}) "
            "GROUP BY k, window_start, window_end HAVING COUNT(*) > 1"
        ),
        catalog=made.catalog,
    )
    namespace: dict[str, Any] = {"__name__": "elsewhere"}
    exec(str(query), namespace)
    ours = sorted(namespace["query"](spark).collect())
    assert ours == sorted(query.dataframe(spark).collect())
    assert {row.kind for row in ours} == {0, 1, 2}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Program, "code", "def query(spark):\n    return spark.range(7)\n")
        assert replace(query).code == Program.code
        assert query.dataframe(spark).count() == 7
