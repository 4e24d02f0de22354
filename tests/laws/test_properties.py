"""Random rows in random windows: what tvfsql gives is what one copy of each row per window gives.

One table of thousands of rows serves a run. Its key `g` names a small random case with a shape of its own (ties,
gaps of years, times before 1970, rows on window borders), so one Spark job checks dozens of cases.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models import naive
from tests.models.naive import Cumulating, Hopping, Tumbling, Windows
from tests.models.random_windows import (
    AGGREGATES,
    FEW,
    IN_PYTHON,
    KEYS,
    RULES_OFF,
    STRATEGY,
    answer,
    assert_same,
    cumulating,
    expected,
    hopping,
    query,
    random_rows,
    random_tables,
    register,
    tumbling,
)
from tests.support.examples import SOAK
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


# ------------------------------------------------------------------------------------------ random things


# ------------------------------------------------------------------------------------------ comparing


# ------------------------------------------------------------------------------------------ properties


def some(kind: st.SearchStrategy[Windows], count: int) -> st.SearchStrategy[list[Windows]]:
    return st.lists(kind, min_size=count, max_size=count, unique=True)


ALL = tuple(AGGREGATES)
IN_RANGES = (
    *(sql for sql in FEW if "DISTINCT" not in sql),
    "SUM(d)",
    "LISTAGG(s, '; ') FILTER (WHERE f)",
    "ARRAY_AGG(n)",
)


@pytest.mark.usefixtures("generated_code")
@random_tables
@given(
    seed=st.integers(0, 2**32),
    tumbles=some(tumbling(), 2 if SOAK else 1),
    hops=some(hopping(), 4 if SOAK else 2),
    cumulates=some(cumulating(), 3 if SOAK else 2),
)
def test_windows_hold_what_one_copy_per_window_gives(
    spark: SparkSession, seed: int, tumbles: list[Windows], hops: list[Windows], cumulates: list[Windows]
) -> None:
    source = random.Random(seed)
    windows = (*tumbles, *hops, *cumulates)
    rows = random_rows(source, windows)
    session = Session(spark)
    register(session, rows)
    decks = _dealt(source, len(windows))
    for each, aggregates in zip(windows, decks, strict=True):
        found = answer(session, each, aggregates, KEYS)
        assert_same(found, expected(rows, each, aggregates, KEYS), aggregates, each)


@random_tables
@given(
    seed=st.integers(0, 2**32),
    hop=hopping().filter(lambda hop: hop.size % hop.slide),
    cumulate=cumulating().filter(lambda cumulate: cumulate.size > cumulate.step),
)
def test_neither_rules_nor_slices_change_a_row(
    spark: SparkSession, seed: int, hop: Hopping, cumulate: Cumulating
) -> None:
    """Without any rule each row is copied once per window; so it is in one phase. Without keys, windows are made by
    time ranges."""
    cumulate = replace(cumulate, only_on_update=False)
    rows = random_rows(random.Random(seed), [hop, cumulate])
    ways = ({STRATEGY: "TWO_PHASE"}, {STRATEGY: "ONE_PHASE"}, RULES_OFF)
    for each, keys, aggregates in (
        (hop, KEYS, FEW),
        (cumulate, (), (*IN_RANGES, "COUNT(DISTINCT s)")),
        (hop, (), IN_RANGES),
    ):
        held = expected(rows, each, aggregates, keys)
        for options in ways:
            session = Session(spark, options=options)
            register(session, rows)
            compiled = session.sql(query(each, aggregates, keys)).query
            assert ("merge_slices" in compiled.code) == (options is ways[0])
            assert ("$range" in compiled.code) == (options is ways[0] and not keys)
            assert bool(compiled.steps) == (options is not RULES_OFF)
            assert_same(answer(session, each, aggregates, keys), held, aggregates, (each, options))
    session = Session(spark, options=IN_PYTHON)
    register(session, rows)
    merged_by_spark = tuple(call for call in FEW if "DISTINCT" not in call)
    for each in hop, cumulate:
        assert "slice_rows" in session.sql(query(each, merged_by_spark, KEYS)).query.code
        held = expected(rows, each, merged_by_spark, KEYS)
        assert_same(answer(session, each, merged_by_spark, KEYS), held, merged_by_spark, (each, IN_PYTHON))


@pytest.mark.usefixtures("generated_code")
@random_tables
@given(
    seed=st.integers(0, 2**32),
    tumble=tumbling().filter(lambda tumble: tumble.size > 1000),
    hop=hopping().filter(lambda hop: hop.size % hop.slide),
    cumulate=cumulating().filter(lambda cumulate: cumulate.size > cumulate.step),
)
def test_duckdb_agrees(spark: SparkSession, seed: int, tumble: Tumbling, hop: Hopping, cumulate: Cumulating) -> None:
    cumulate = replace(cumulate, only_on_update=False)
    rows = random_rows(random.Random(seed), [tumble, hop, cumulate])
    session = Session(spark)
    register(session, rows)
    duck = duckdb.connect()
    duck.execute("SET TimeZone = 'UTC'")
    duck.register("arrow", pa.Table.from_pylist([{**row, "clock": naive.at(row["ts"])} for row in rows]))
    common = (
        "COUNT(*)",
        "SUM(b)",
        "SUM(p)",
        "AVG(d)",
        "MIN(n)",
        "MAX(s)",
        "COUNT(DISTINCT s)",
        "SUM(n) FILTER (WHERE f)",
    )
    for each, starts_and_ends in (
        (tumble, _duck_tumble(tumble)),
        (hop, _duck_ranges(hop.offset, hop.slide, hop.size)),
        (cumulate, _duck_cumulate(cumulate)),
    ):
        theirs = duck.sql(
            f"SELECT g, k, window_start, window_end, {', '.join(common)} FROM ({starts_and_ends}) GROUP BY ALL"
        ).fetchall()
        held = {row[:4]: row[4:] for row in theirs}
        assert_same(answer(session, each, common, KEYS), held, common, each)


def _dealt(source: random.Random, hands: int) -> list[list[str]]:
    """Aggregates for each window: each aggregate comes twice at least, and no query holds too many to be quick."""
    deck = [sql for _ in range(-(-hands * 16 // len(ALL))) for sql in source.sample(ALL, len(ALL))]
    return [list(dict.fromkeys(deck[hand::hands])) for hand in range(hands)]


def _duck_tumble(windows: Tumbling) -> str:
    bucket = (
        f"time_bucket({naive.interval(windows.size)}, clock, TIMESTAMP '1970-01-01' + {naive.interval(windows.offset)})"
    )
    return f"SELECT *, {bucket} AS window_start, window_start + {naive.interval(windows.size)} AS window_end FROM arrow"


def _duck_ranges(offset: int, slide: int, size: int) -> str:
    """Window starts lie at `offset` plus multiples of the slide, after ts - size and not after ts."""
    last = f"ts - (((ts - {offset}) % {slide}) + {slide}) % {slide}"
    starts = f"unnest(range({last}, ts - {size}, -{slide}))"
    return f"SELECT *, make_timestamp(1000 * w) AS window_start, make_timestamp(1000 * (w + {size})) AS window_end " \
           f"FROM (SELECT *, {starts} AS w FROM arrow)"  # fmt: skip


def _duck_cumulate(windows: Cumulating) -> str:
    step, size, offset = windows.step, windows.size, windows.offset
    start = f"ts - (((ts - {offset}) % {size}) + {size}) % {size}"
    ends = f"unnest(range(a + {step}, a + {size} + 1, {step}))"
    return f"SELECT *, make_timestamp(1000 * a) AS window_start, make_timestamp(1000 * z) AS window_end " \
           f"FROM (SELECT *, {ends} AS z FROM (SELECT *, {start} AS a FROM arrow)) WHERE ts < z"  # fmt: skip
