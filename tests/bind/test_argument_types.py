"""What Flink takes as an argument of a function is taken. What it does not take is refused by name, or `tvfsql lint`
says that Flink does not take it (tests/support/argument_types.py)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tvfsql
from tests.support.argument_types import COLUMNS, FORMS, INTERVAL, TABLE, Asked, answers, calls
from tests.support.examples import SOAK
from tvfsql import Session
from tvfsql.bind.flink import functions
from tvfsql.bind.flink.beyond import noting
from tvfsql.bind.flink.functions.arguments import FAMILIES, WORDS
from tvfsql.errors import TvfSqlError
from tvfsql.plan.aggregate.table import AGGREGATES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STEP = 1 if SOAK else 20
DDL = f"{TABLE} WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json')"
# Flink takes any type here, and fails when it runs or has a value that means nothing
REFUSED = (
    "JSON_VALUE(",
    "SPLIT_INDEX(s, i",
    "SPLIT_INDEX(s, l",
    "b = 'a'",
    "b IN ('a'",
    "FLOOR(tm TO",
    "TIMESTAMPADD(DAY, 1, tm",
    "TO_TIMESTAMP_LTZ(i, i",
    "TO_TIMESTAMP_LTZ(l, i",
    "TO_TIMESTAMP_LTZ(d, i",
    "TO_TIMESTAMP_LTZ(p, i",
    "OVERLAY(bi",
    "RAND(i",
    "RAND_INTEGER(i, ",
    "COLLECT(m",
)
# Flink takes an INTERVAL for the number of its milliseconds, or fails when it runs (JSON_STRING)
OF_INTERVAL = (
    "REGEXP_EXTRACT_ALL(s, 'a', iv",
    "INET_NTOA(iv",
    "DAYOFMONTH(iv",
    "HOUR(iv",
    "MINUTE(iv",
    "SECOND(iv",
    "TO_TIMESTAMP_LTZ(iv",
    *(f"ARRAY_{name}(a, iv" for name in ("APPEND", "CONTAINS", "POSITION", "PREPEND", "REMOVE", "SLICE")),
    "ARRAY_SLICE(a, i, iv",
    "JSON_STRING(iv",
    "iv = 'a'",
    "COALESCE(iv, i",
)
OF_HASH = ("HASH_CODE(d)", "HASH_CODE(p)", "HASH_CODE(tm)", "HASH_CODE(ts)")
# Flink does not take them because 'a' is no date, not because of its type; and not over a column that is an INTERVAL
NO_DATE = ("dt = 'a'", "tm = 'a'", "ts = 'a'", "tz = 'a'", "ROW(iv)", "- iv", "iv + INTERVAL '1' DAY")


def taken() -> list[tuple[Asked, bool]]:
    told = answers()
    return [(each, each.column in told[each.function][each.at].split()) for each in calls()]


def verdict(*expressions: str) -> str:
    """Whether they are taken, noted by lint, or refused."""
    items = ", ".join(f"{each} AS x{at}" for at, each in enumerate(expressions))
    with noting() as notes:
        try:
            tvfsql.compile(f"{DDL}; SELECT {items} FROM t", options={"execution.runtime-mode": "batch"})
        except TvfSqlError as error:
            return f"refused: {error}"
    return f"noted: {', '.join(what for _, what in notes)}" if notes else "taken"


def found(asked: list[Asked]) -> Iterator[tuple[Asked, str]]:
    """The verdicts; many calls in one query as long as it is taken."""
    of_all = verdict(*(each.sql for each in asked))
    if len(asked) == 1 or of_all == "taken":
        yield from ((each, of_all) for each in asked)
    else:
        yield from found(asked[: len(asked) // 2])
        yield from found(asked[len(asked) // 2 :])


def test_what_flink_takes_is_taken() -> None:
    asked = [each for each, yes in taken() if yes and not each.sql.startswith((*REFUSED, *OF_INTERVAL, *OF_HASH))]
    wrong = {each.sql: told for each, told in found(asked) if told != "taken"}
    assert not wrong
    assert len(asked) > 600


@pytest.mark.parametrize("expression", [*OF_HASH, "b = 'a'", "JSON_VALUE(i, '$.a')", "FLOOR(tm TO DAY)"])
def test_what_flink_takes_without_sense_is_refused_by_name(expression: str) -> None:
    assert verdict(expression).startswith("refused: error: ")


def test_what_flink_does_not_take_is_refused_or_told() -> None:
    groups = defaultdict[tuple[str, int], list[Asked]](list)
    for each, yes in taken():
        if not yes and each.sql not in NO_DATE:
            groups[each.function, each.at].append(each)
    wrong = [each.sql for asked in [*groups.values()][::STEP] for each, told in found(asked) if told == "taken"]
    assert not wrong


@pytest.mark.spark
def test_the_type_of_what_is_taken_is_that_of_spark(spark: SparkSession) -> None:
    """Also where lint says that Flink does not take the argument, such as a text in the place of a number."""
    session = Session(spark)
    nulls = ", ".join(f"CAST(NULL AS {kind}) AS `{name}`" for name, kind in COLUMNS.items() if name != "iv")
    session.execute(f"CREATE VIEW t AS SELECT {nulls}, {INTERVAL} AS iv")

    def types(asked: Sequence[Asked]) -> Iterator[tuple[str, str, str]]:
        """The calls, and the types that the binder and Spark say."""
        items = ", ".join(f"{each.sql} AS x{at}" for at, each in enumerate(asked))
        try:
            result = session.sql(f"SELECT {items} FROM t")
        except TvfSqlError:
            half = len(asked) // 2
            for part in (asked[:half], asked[half:]) if half else ():
                yield from types(part)
            return
        said = [field.type.spark.replace("`", "") for field in result.query.physical.schema]
        yield from zip((each.sql for each in asked), said, (kind for _, kind in result.dataframe().dtypes), strict=True)

    plain = [each for each, _ in taken() if not each.function.endswith("(x)")][::STEP]
    groups = [plain[at : at + 40] for at in range(0, len(plain), 40)]
    wrong = [(sql, said, found) for group in groups for sql, said, found in types(group) if said and said != found]
    assert not wrong


WATERMARK = DDL.replace(", iv AS", ", WATERMARK FOR ts AS ts, iv AS")
WINDOW = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end"
OVER = "OVER (PARTITION BY i ORDER BY ts)"
# Spark could only reject them: each did once pass `check` and fail when it ran
OF_VALUES = """
JSON_STRING(iv); TO_BASE64(iv); RAND(i); RAND_INTEGER(i, 5); NOT iv; iv = 1; iv > ts; iv * iv; 2 / iv; iv - ts; m[iv]
EXTRACT(HOUR FROM INTERVAL '1' DAY); TIMESTAMPADD(DAY, 1, iv); FLOOR(iv TO DAY); FLOOR(NULL TO DAY); IF(b, iv, i)
ARRAY_DISTINCT(ARRAY[m]); ARRAY_CONTAINS(ARRAY[m], m); ARRAY_SORT(ARRAY[m]); ARRAY_UNION(ARRAY[m], ARRAY[m])
ARRAY_JOIN(ARRAY[r], s); ARRAY_CONCAT(a, i); ARRAY_CONCAT(a, ARRAY[r]); MAP_FROM_ARRAYS(ARRAY[m], a); m < m
a = ARRAY['a']; NULLIF(a, ARRAY['a']); IFNULL(a, r); COALESCE(dt, tm); COALESCE(bi, m); s + s; NULL * s; l + dt; i - dt
CASE WHEN b THEN i ELSE dt END; CASE WHEN b THEN s ELSE a END; ARRAY_UNION(a, NULL); MAP_UNION(NULL, m)
iv + INTERVAL '1' MONTH; tm + INTERVAL '1' MONTH; NULLIF(iv, INTERVAL '1' MONTH); s BETWEEN a AND i
"""
OF_AGGREGATES = """
LISTAGG(bi); LISTAGG(r); LISTAGG(DISTINCT a); LISTAGG(iv); LISTAGG(s, s); COLLECT(m); ARRAY_AGG(DISTINCT m)
COLLECT_LIST(DISTINCT m); COLLECT_UNION(s); COLLECT_UNION(ARRAY[m]); JSON_OBJECTAGG(KEY m VALUE i); JSON_ARRAYAGG(iv)
"""
OF_OVER = """
SUM(b); SUM(dt); AVG(ts); MIN(m); MAX(m); STDDEV_POP(tz); LISTAGG(bi); LISTAGG(r); NTILE(i); LAG(i, i); LAG(i, NULL)
LAG(b, 1, i); LEAD(a, 1, i); LAG(i, iv); LAG(NULL, 1, i); BOOL_AND(s); BIT_OR(p); SKEWNESS(b); COLLECT_SET(m); MODE(m)
"""


def calls_in(text: str) -> list[str]:
    return [each.strip() for line in text.strip().splitlines() for each in line.split(";")]


def refused(query: str, ddl: str = WATERMARK, mode: str = "batch") -> bool:
    try:
        tvfsql.compile(f"{ddl}; SELECT {query}", options={"execution.runtime-mode": mode})
    except TvfSqlError as error:
        return error.span is not None
    return False


@pytest.mark.parametrize("call", calls_in(OF_VALUES))
def test_what_spark_could_only_reject_is_refused_by_name(call: str) -> None:
    assert refused(f"{call} AS x FROM t")


@pytest.mark.parametrize("call", [*calls_in(OF_AGGREGATES), "JSON_ARRAYAGG(m)", "JSON_OBJECTAGG(KEY s VALUE m)"])
def test_an_aggregate_that_spark_could_only_reject_is_refused_by_name(call: str) -> None:
    assert refused(f"{call} AS x FROM {WINDOW}") and refused(f"{call} AS x FROM {WINDOW}", mode="streaming")
    assert refused(f"i, {call} AS x FROM t GROUP BY i")
    if call in calls_in(OF_AGGREGATES):  # without event time nothing is put in order
        assert refused(f"i, {call} AS x FROM t GROUP BY i", DDL)


@pytest.mark.parametrize("call", calls_in(OF_OVER))
def test_a_call_with_over_that_spark_could_only_reject_is_refused_by_name(call: str) -> None:
    assert refused(f"{call} {OVER} AS x FROM t") and refused(f"{call} {OVER} AS x FROM t", mode="streaming")


@pytest.mark.parametrize(
    "query",
    [
        "iv + INTERVAL '1' DAY AS x, - iv AS y, iv * 2 AS z, iv / 2 AS v, ts + iv AS w FROM t",
        "iv < INTERVAL '2' DAY AS x, EXTRACT(HOUR FROM INTERVAL '1 02:03:04' DAY TO SECOND) AS y FROM t",
        "EXTRACT(DAY FROM iv) AS x, ARRAY_SORT(a, b) AS y FROM t",
        "ARRAY_CONCAT(a, a) AS x, COALESCE(dt, dt) AS y, dt + 1 AS z, s + 1 AS v, a = ARRAY[1] AS w FROM t",
        "CASE WHEN b THEN s ELSE i END AS x, CASE WHEN b THEN a ELSE NULL END AS y FROM t",
        f"LAG(i, 1, 0) {OVER} AS x, LAG(ts, 2, NULL) {OVER} AS y, NTILE(4) {OVER} AS z FROM t",
        f"LISTAGG(s, ';') AS x, COLLECT(r) AS y, JSON_OBJECTAGG(KEY s VALUE r) AS z FROM {WINDOW}",
    ],
)
def test_what_is_next_to_it_is_taken(query: str) -> None:
    tvfsql.compile(f"{WATERMARK}; SELECT {query}", options={"execution.runtime-mode": "batch"})


@pytest.mark.spark
@pytest.mark.parametrize("shape", ["{} AS x{} FROM t", f"{{}} AS x{{}} FROM {WINDOW}", f"{{}} {OVER} AS x{{}} FROM t"])
def test_spark_takes_each_aggregate_that_is_taken(spark: SparkSession, shape: str, tmp_path: Path) -> None:
    """Its plan is made, for an argument of each type."""
    session = Session(spark)
    session.execute(WATERMARK.replace("'path' = 't'", f"'path' = '{tmp_path}'"))
    item, _, source = shape.partition(" FROM ")

    def failures(asked: Sequence[str]) -> Iterator[str]:
        items = ", ".join(item.format(call, at) for at, call in enumerate(asked))
        try:
            session.sql(f"SELECT {items} FROM {source}").dataframe()
        except TvfSqlError as error:
            half = len(asked) // 2
            if half:
                yield from failures(asked[:half])
                yield from failures(asked[half:])
            elif error.message.startswith("Spark failed"):
                yield f"{asked[0]}: {error.message}"

    every = [row.name for row in AGGREGATES.values() if row.arguments[0] == 1 and not row.name.startswith("$")]
    asked = [f"{name}({column})" for name in every for column in COLUMNS][:: 1 if SOAK else 3]
    assert not [*chain.from_iterable(failures(asked[at : at + 15]) for at in range(0, len(asked), 15))]


def test_the_table_is_that_of_the_answers() -> None:
    """Functions with one name and number of arguments take what any of them takes."""
    told = answers()
    for row in functions():
        count = len(row.arguments) - row.is_variadic
        of_name = [
            each
            for function, each in told.items()
            if function.partition("(")[0] == row.name and len(each) == count and function not in FORMS
        ]
        for at, families in enumerate(row.families[:count] if of_name else ()):
            every = {kind for each in of_name for kind in each[at].split() if kind != "iv"}  # OF_INTERVAL
            assert not families or {*families} == every, row.call
    assert {*FAMILIES.values()} == {*WORDS}


def test_a_hint_of_an_aggregate_is_a_cast_that_exists() -> None:
    options = "'connector' = 'filesystem', 'path' = 't', 'format' = 'json'"
    ddl = f"CREATE TABLE t (k STRING, ts TIMESTAMP(3), r ROW<a INT>) WITH ({options});"
    for column, hint in {"k": "SUM(CAST(k AS DOUBLE))", "ts": None, "r": None}.items():
        with pytest.raises(TvfSqlError) as raised:
            tvfsql.compile(f"{ddl}SELECT SUM({column}) AS x FROM t")
        assert raised.value.hint == hint
