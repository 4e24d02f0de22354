"""Functions that a user wrote: their rows against the plain definition, restarts, their types, and what goes wrong."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from user_functions import Doubled, Median, Seen, WeightedAvg, initials

import tvfsql
from tests.models import naive
from tests.models.naive import Cumulating, Hopping, Tumbling, values
from tests.models.random_streams import BATCHES, COLUMNS, CUMULATE, HOP, TUMBLE, random_batches, shown
from tests.models.random_windows import STRATEGY, answer, assert_same, query, random_rows, register
from tests.models.streams import Event, Model
from tests.support.bids import create_table, write_files
from tests.support.examples import SOAK
from tvfsql import Session
from tvfsql.errors import BindError, DataError
from tvfsql.runtime.merge.partials import prepare
from tvfsql.runtime.merge.ranges import Blocks, Ranges
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.udf import AggregateFunction, ScalarFunction, converter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CREATE = """
CREATE FUNCTION weightedAvg AS 'user_functions.WeightedAvg' LANGUAGE PYTHON;
CREATE FUNCTION seen AS 'user_functions.Seen' LANGUAGE PYTHON;
CREATE FUNCTION middle AS 'user_functions.Median' LANGUAGE PYTHON;
CREATE FUNCTION doubled AS 'user_functions.Doubled' LANGUAGE PYTHON;
"""


def seen(rows: Sequence[naive.Row], *columns: str) -> str:
    return repr(sorted((tuple(row[column] for column in columns) for row in rows), key=repr))


def weighted(rows: Sequence[naive.Row], value: str, weight: str) -> float | None:
    pairs = [(row[value], row[weight]) for row in rows if row[value] is not None and row[weight] is not None]
    whole = sum(weight for _, weight in pairs)
    return sum(value * weight for value, weight in pairs) / whole if whole else None


def twice(n: int | None) -> tuple[int | None]:
    return (None if n is None else 2 * n,)


MERGED: dict[str, Callable[[Sequence[naive.Row]], Any]] = {
    "weightedAvg(n, t)": lambda rows: weighted(rows, "n", "t"),
    "seen(n, s)": lambda rows: seen(rows, "n", "s"),
    "seen(p, k) FILTER (WHERE f)": lambda rows: seen([row for row in rows if row["f"]], "p", "k"),
    "seen(doubled(n))": lambda rows: repr(sorted((twice(row["n"]) for row in rows), key=repr)),
    "seen(DISTINCT s, f)": lambda rows: repr(sorted({(row["s"], row["f"]) for row in rows}, key=repr)),
    "COUNT(DISTINCT s)": lambda rows: len({*values(rows, "s")}),
    "SUM(n)": lambda rows: naive.total(values(rows, "n")),
}


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.parametrize("windows", [Tumbling(7000, 500), Hopping(2000, 9000), Cumulating(1000, 6000)], ids=str)
def test_batch_gives_what_one_copy_per_window_gives(spark: SparkSession, windows: naive.Windows) -> None:
    """In both phases, in one, and with an aggregate that cannot be merged, whose slices are lists of rows."""
    rows = random_rows(random.Random(str(windows)), [windows])[: 1500 if SOAK else 600]
    ways: list[tuple[dict[str, str], dict[str, Any]]] = [({}, MERGED), ({}, {"middle(n)": median_of, **MERGED})]
    if SOAK or isinstance(windows, Hopping):
        ways.append(({STRATEGY: "ONE_PHASE"}, MERGED))
    for options, aggregates in ways:
        session = Session(spark, options=options)
        session.execute(CREATE)
        register(session, rows)
        held = naive.groups(rows, windows, ("g", "k"))
        wanted = {group: tuple(meaning(of) for meaning in aggregates.values()) for group, of in held.items()}
        compiled = session.sql(query(windows, tuple(aggregates), ("g", "k"))).query
        assert ("slice_rows" in compiled.code) == (options == {})
        assert_same(answer(session, windows, tuple(aggregates), ("g", "k")), wanted, tuple(aggregates), options)


def median_of(rows: Sequence[naive.Row]) -> float | None:
    found = sorted(values(rows, "n"))
    return float(np.median(found)) if found else None


@pytest.mark.spark
@pytest.mark.soak
def test_streams_give_what_the_model_gives_also_when_they_are_restarted(spark: SparkSession, tmp_path: Path) -> None:
    """Accumulators lie in the state; rows come late, and out of order."""
    for seed, (text, window) in enumerate([HOP, CUMULATE, TUMBLE] if SOAK else [HOP, CUMULATE]):
        draw = random.Random(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        batches = random_batches(draw, late=True)
        results = "seen(n), weightedAvg(n, 2), seen(DISTINCT n)"
        sql = f"SELECT item, window_start, window_end, {results} {text[text.index('FROM') :]}"
        found: Counter[Any] = Counter()
        for upto in (draw.randrange(1, BATCHES), BATCHES):
            write_files(folder / "in", [[shown(event) for event in batch] for batch in batches[:upto]])
            session = Session(spark, mode="streaming", checkpoint=folder / "checkpoint", final=upto == BATCHES)
            session.execute(CREATE)
            create_table(session, "bid", COLUMNS, folder / "in")
            found.update(map(tuple, session.sql(sql).collect()))
        assert found == Counter(expected(window, batches))


def expected(window: Any, batches: Sequence[Sequence[Event]]) -> list[Any]:
    model = Model(window)
    rows = [row for batch in (*batches, [Event(None, None, END_OF_INPUT)]) for row in model.batch(batch)]
    return [
        (
            item,
            naive.at(start),
            naive.at(end),
            repr(sorted(((n,) for n in every), key=repr)),
            sum(every) / len(every),
            repr(sorted(((n,) for n in {*every}), key=repr)),
        )
        for item, start, end, *_, every, _ in rows
    ]


@pytest.mark.spark
@pytest.mark.usefixtures("several_partitions")
def test_windows_of_windows_and_grouping_sets(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        {"ts": naive.at(second * 1000).isoformat(" ", "milliseconds"), "item": item, "n": second}
        for second in range(60)
        for item in ("a", "b")[: second % 3]
    ]
    write_files(tmp_path / "in", [rows[:40], rows[40:]])
    inner = """SELECT item, window_start, window_end, window_time AS rowtime, weightedAvg(n, 1) AS mean, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))
    GROUP BY item, window_start, window_end, window_time"""
    queries = (
        f"SELECT window_end, weightedAvg(mean, n) FROM ({inner}) GROUP BY window_start, window_end",
        f"""SELECT window_end, weightedAvg(mean, n)
        FROM TABLE(TUMBLE(TABLE ({inner.replace("window_start, window_end, window_time AS", "window_time AS")}),
        DESCRIPTOR(rowtime), INTERVAL '20' SECOND)) GROUP BY window_start, window_end""",
        """SELECT item, window_end, seen(item, n) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '30' SECOND))
        GROUP BY window_start, window_end, GROUPING SETS ((item), ())""",
    )
    answers = []
    for mode in ("batch", "streaming"):
        session = Session(spark, mode=mode)
        session.execute(CREATE)
        create_table(session, "bid", "ts TIMESTAMP(3), item STRING, n INT, WATERMARK FOR ts AS ts", tmp_path / "in")
        answers.append([Counter(map(tuple, session.sql(each).collect())) for each in queries])
    assert answers[0] == answers[1]
    of_ten, of_twenty, of_sets = answers[0]
    assert sum(of_ten.values()) == 6
    assert of_ten[naive.at(10_000), weighted([{"n": row["n"], "one": 1} for row in rows[:9]], "n", "one")] == 1
    assert (sum(of_twenty.values()), sum(of_sets.values())) == (3, 6)


@pytest.mark.spark
def test_functions_are_called_for_rows_of_the_query_alone(spark: SparkSession, tmp_path: Path) -> None:
    """Not for control rows of a stream, nor for late rows on their way to a table: what is NULL there is not NULL
    for the functions."""
    times = ("00:00:01", "00:00:02", "00:05:00", "00:00:03")
    batches = [[{"ts": f"2020-01-01 {time}", "n": n}] for n, time in enumerate(times)]
    session = Session(spark, mode="streaming")
    for name, path in (("plusOne", "plus_one"), ("meanOf", "MeanOfSome")):
        session.execute(f"CREATE FUNCTION {name} AS 'user_functions.{path}' LANGUAGE PYTHON")
    write_files(tmp_path / "in", batches)
    create_table(session, "t", "ts TIMESTAMP(3), n INT, more AS plusOne(n), WATERMARK FOR ts AS ts", tmp_path / "in")
    session.execute(f"""CREATE TABLE late (n INT, ts TIMESTAMP(3), window_end TIMESTAMP(3))
    WITH ('connector' = 'filesystem', 'path' = '{tmp_path / "late"}', 'format' = 'json')""")
    inner = """SELECT window_start, window_end, plusOne(SUM(plusOne(more))) AS n, meanOf(more) AS m
    FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
    WHERE plusOne(n) < 100 GROUP BY window_start, window_end"""
    outer = (
        f"SELECT window_end, meanOf(plusOne(n)) AS n, meanOf(m) AS m FROM ({inner}) GROUP BY window_start, window_end"
    )
    minutes = [naive.at(1_577_836_800_000 + minute * 60_000) for minute in (1, 6)]
    found = {tuple(row) for row in session.sql(outer).collect()}
    assert found == {(minutes[0], 7.0, 1.5), (minutes[1], 6.0, 3.0)}
    session.execute("SET 'tvfsql.late-output' = 'late'")
    found = {tuple(row)[1:] for row in session.sql(inner).collect()}
    assert found == {(minutes[0], 6, 1.5), (minutes[1], 5, 3.0)}
    assert [row.n for row in spark.read.json(str(tmp_path / "late")).collect()] == [3]


@pytest.mark.spark
def test_a_spark_that_runs_imports_from_the_folder_of_a_script(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "beside_the_script.py").write_text(
        "from helper_beside import more\n\n\ndef raised(value: int) -> int:\n    return more(value)\n", encoding="utf-8"
    )
    (tmp_path / "helper_beside.py").write_text("def more(value):\n    return value + 1\n", encoding="utf-8")
    session = Session(spark)
    session.script.folder = str(tmp_path)
    session.execute("CREATE FUNCTION raised AS 'beside_the_script.raised' LANGUAGE PYTHON")
    assert session.sql("SELECT raised(41) AS n").collect() == [(42,)]


FAILING = (
    ("SELECT fails(n) FROM t", "function fails failed: ValueError: 2 is too much (user_functions.py, line "),
    ("SELECT n FROM t WHERE fails(n) = 1", "function fails failed: ValueError: 2 is too much"),
    ("SELECT text(n) FROM t", "function text returned 'twelve', but its type is BIGINT"),
    ("SELECT atLast(n) FROM t", "function atLast failed: ZeroDivisionError: division by zero"),
    ("SELECT middle(s) FROM t", "function middle failed: ValueError: could not convert string to float: 'a'"),
    (
        "SELECT weightedAvg(s, s) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
        "GROUP BY window_start, window_end",
        "function weightedAvg failed: TypeError: can't multiply sequence",
    ),
)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("mode", "sql", "message"),
    [("batch", *case) for case in FAILING] + [("streaming", *case) for case in (FAILING[0], FAILING[-1])],
)
def test_what_fails_in_a_function_is_told_by_its_name(
    spark: SparkSession, tmp_path: Path, mode: str, sql: str, message: str
) -> None:
    write_files(tmp_path / "in", [[{"ts": "2020-01-01 00:00:00", "n": n, "s": "a"} for n in range(3)]])
    session = Session(spark, mode=mode)
    session.execute(CREATE)
    for name, path in (("fails", "fails"), ("text", "gives_text"), ("atLast", "FailsAtLast")):
        session.execute(f"CREATE FUNCTION {name} AS 'user_functions.{path}' LANGUAGE PYTHON")
    create_table(session, "t", "ts TIMESTAMP(3), n INT, s STRING, WATERMARK FOR ts AS ts", tmp_path / "in")
    with pytest.raises(DataError) as caught:
        session.sql(sql).collect()
    assert message in str(caught.value)


def half(x: Any) -> Any:
    return x * 0.5


def test_a_float_times_a_decimal_has_a_hint() -> None:
    of_decimal = ScalarFunction("half", half, "double")
    assert of_decimal(3) == 1.5
    with pytest.raises(DataError, match=r"function half failed: TypeError: unsupported .*line ") as raised:
        of_decimal(Decimal("3.00"))
    assert raised.value.hint == "half(CAST(x AS DOUBLE)) passes a float; or Decimal('1.5'), not 1.5, in the function"
    with pytest.raises(DataError, match="function half failed: TypeError: can't multiply") as raised:
        of_decimal("3.00")
    assert raised.value.hint is None


def test_a_registered_function_is_in_compiled_queries() -> None:
    session = Session()
    session.create_function("short", initials)
    session.create_function("wAvg", WeightedAvg)
    session.create_function("twice", Doubled)
    query = tvfsql.compile("SELECT short('a b'), wAvg(1, 2), TWICE(3)", catalog=session.catalog)
    assert "from user_functions import Doubled, WeightedAvg, initials" in query.code
    session.create_function("short", Doubled)  # in its place
    assert "initials" not in session.sql("SELECT short(1)").query.code
    with pytest.raises(BindError, match="there is no function short"):
        tvfsql.compile("SELECT short('a b')")


def test_names_of_functions_are_no_names_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "odd_names.py").write_text(
        "def query(x) -> int: return x\ndef F(x) -> int: return x\ndef print(x) -> int: return x\n"
        "def merge_slices(x) -> int: return x\ndef one_row(x) -> int: return x\n",
        encoding="utf-8",
    )
    session = Session()
    session.script.folder = str(tmp_path)
    names = ("query", "F", "print", "merge_slices", "one_row")
    for i, name in enumerate(names):
        session.execute(f"CREATE FUNCTION f{i} AS 'odd_names.{name}' LANGUAGE PYTHON")
    calls = ", ".join(f"f{i}(1)" for i in range(len(names)))
    code = session.sql(f"SELECT {calls}").query.code
    for imported in ("F as F_", "merge_slices as merge_slices_", "one_row", "print as print_", "query as query_"):
        assert imported in code
    space: dict[str, Any] = {"__name__": "program"}
    exec(code, space)
    assert space["F_"](2) == space["one_row"](2) == 2


@pytest.mark.parametrize("found", [lambda x: x, 42, len, "text"], ids=["lambda", "number", "builtin", "text"])
def test_what_no_program_can_import_is_refused(found: Any) -> None:
    def local(x: int) -> int:
        return x

    for each in (found, local):
        with pytest.raises(BindError):
            Session().create_function("f", each)


@pytest.mark.parametrize(
    ("kind", "given", "wanted"),
    [
        ("double", 1, 1.0),
        ("double", Decimal("1.5"), 1.5),
        ("float", np.float32(0.5), 0.5),
        ("bigint", np.int64(7), 7),
        ("tinyint", -128, -128),
        ("decimal(5,2)", 1, Decimal("1.00")),
        ("decimal(5,2)", 0.125, Decimal("0.13")),
        ("decimal(5,2)", Decimal("-999.994"), Decimal("-999.99")),
        ("boolean", np.bool_(True), True),
        ("binary", bytearray(b"x"), b"x"),
        ("date", datetime(2020, 1, 1, 5), date(2020, 1, 1)),
        ("timestamp_ntz", datetime(2020, 1, 1), datetime(2020, 1, 1)),
        ("array<double>", (1, None), [1.0, None]),
        ("struct<a:double,b:string>", (1, None), (1.0, None)),
        ("struct<a:double,b:string>", {"b": "x"}, (None, "x")),
        ("string", None, None),
    ],
)
def test_results_are_of_the_type_that_was_promised(kind: str, given: Any, wanted: Any) -> None:
    made = converter("f", kind)(given)
    assert (made, type(made)) == (wanted, type(wanted))


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("double", "1"),
        ("bigint", 1.5),
        ("bigint", 2**63),
        ("decimal(5,2)", Decimal("1000")),
        ("decimal(5,2)", float("nan")),
        ("decimal(5,2)", "1"),
        ("string", 1),
        ("boolean", 1),
        ("date", "2020-01-01"),
        ("timestamp_ntz", datetime.fromisoformat("2020-01-01T00:00:00+00:00")),
        ("array<bigint>", [1, "a"]),
        ("array<string>", "text"),
        ("struct<a:double,b:string>", (1, 2)),
        ("struct<a:double,b:string>", (1,)),
        ("struct<a:double,b:string>", {"c": 1}),
    ],
)
def test_results_of_another_type_are_no_nulls(kind: str, given: Any) -> None:
    with pytest.raises(DataError, match="function f returned"):
        converter("f", kind)(given)


@pytest.mark.parametrize("of_rows", [False, True])
def test_accumulators_of_ranges_hold_the_rows_in_their_order(of_rows: bool) -> None:
    """Those of one range are no part of another's, whatever merge() does with what it gets."""
    function = AggregateFunction("seen", Seen, "string")
    width, count = 5, 23
    slices: list[Any] = [None if i % 7 == 3 else [{"x0": i}, {"x0": None}] for i in range(count)]
    column = pa.array(slices, pa.list_(pa.struct([("x0", pa.int64())])))
    if not of_rows:
        packed = [rows and function.packed(function.of_rows([(row["x0"],) for row in rows])) for rows in slices]
        column = pa.array(packed, pa.binary())
    lo = np.array([max(0, end - width) for end in range(1, count + 1)])
    hi = np.arange(1, count + 1)
    blocks = Blocks(np.arange(count) % width == 0)
    partial = prepare(function, "seen", column, blocks)
    ranges = Ranges(blocks, lo, hi, np.zeros(count, dtype=np.int64))
    for state, start, end in zip(partial.over(ranges).to_pylist(), lo, hi, strict=True):
        wanted = [(row["x0"],) for rows in slices[start:end] if rows for row in rows]
        assert (pickle.loads(state)["rows"] if state else []) == wanted
    assert partial.bytes_over(ranges).min() > 0
    assert prepare(function, "seen", column.slice(3, 1), Blocks(np.array([True]))).over(
        Ranges(Blocks(np.array([True])), np.array([0]), np.array([1]), np.array([0]), anchored=True)
    ).to_pylist() == [None]


def test_a_median_has_no_merge() -> None:
    session = Session()
    session.create_function("middle", Median)
    assert not session.catalog.functions["middle"].merges
