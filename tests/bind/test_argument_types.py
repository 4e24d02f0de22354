"""What Flink takes as an argument of a function is taken. What it does not take is refused by name, or `tvfsql lint`
says that Flink does not take it (tests/support/argument_types.py)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
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
