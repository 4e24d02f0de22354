"""The distinct split changes no row: batch beside one copy of each row per window, streams beside batch without it."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.models.naive import Cumulating, Hopping, Tumbling
from tests.models.random_windows import (
    KEYS,
    STRATEGY,
    answer,
    assert_same,
    expected,
    one_of_each,
    query,
    random_rows,
    random_tables,
    register,
)
from tests.support.bids import BIDS, WINDOWS, bag, create_table, sessions, some_batches, write_files
from tests.support.examples import SOAK
from tvfsql import Session
from tvfsql.api import Compiled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPLIT = {"table.optimizer.distinct-agg.split.enabled": "true"}
BUCKETS = "table.optimizer.distinct-agg.split.bucket-num"
ONE = ("COUNT(DISTINCT n)", "SUM(DISTINCT n)", "AVG(DISTINCT n)", "COUNT(DISTINCT n) FILTER (WHERE f)", "COUNT(*)")
SEVERAL = (
    "COUNT(DISTINCT s)", "COUNT(DISTINCT n) FILTER (WHERE f)", "COUNT(DISTINCT d)", "SUM(DISTINCT p)", "SUM(t)",
    "SUM(DISTINCT t) FILTER (WHERE f)", "AVG(n)", "AVG(p)", "AVG(d)", "SUM(r)", "SUM(q)", "MIN(s) FILTER (WHERE f)",
    "MAX(e)", "COUNT(*)", "COUNT(*) FILTER (WHERE f)", "COUNT(n)", "FIRST_VALUE(s)", "LAST_VALUE(e)", "BOOL_AND(f)",
    "FIRST_VALUE(p) FILTER (WHERE f)", "BOOL_OR(f)", "COUNT(DISTINCT ts)",
)  # fmt: skip


@pytest.mark.spark
@random_tables
@one_of_each
def test_in_batch_no_row_changes(
    spark: SparkSession, seed: int, tumble: Tumbling, hop: Hopping, cumulate: Cumulating
) -> None:
    cumulate = replace(cumulate, only_on_update=False)
    rows = random_rows(random.Random(seed), [tumble, hop, cumulate])
    two, one = {**SPLIT, BUCKETS: "3"}, {**SPLIT, STRATEGY: "ONE_PHASE"}
    for windows, aggregates, keys, options in (
        (hop, SEVERAL, KEYS, two),
        (hop, ONE, (), one),
        (cumulate, ONE, KEYS, two),
        (cumulate, SEVERAL, ("k",), SPLIT),
        *([(tumble, SEVERAL, KEYS, two), (tumble, ONE, (), SPLIT)] if SOAK else [(tumble, ONE, KEYS, two)]),
    ):
        session = Session(spark, options=options)
        register(session, rows)
        compiled = session.sql(query(windows, aggregates, keys)).query
        assert is_split(compiled)
        assert ("explode(array(" in compiled.code) == (aggregates is SEVERAL)
        held = expected(rows, windows, aggregates, keys)
        assert_same(answer(session, windows, aggregates, keys), held, aggregates, (windows, options))


@pytest.mark.spark
def test_values_that_are_equal_share_a_bucket(spark: SparkSession) -> None:
    """Zeros of both signs are one value, all NaNs too, and NULL is none."""
    ones = [(0.0,), (-0.0,), (math.nan,), (-math.nan,), (None,), (math.inf,)]
    session = Session(spark, options=SPLIT)
    frame = spark.createDataFrame(ones, "d DOUBLE").selectExpr("d", "float(d) AS r", "timestamp_ntz '2020-01-01' AS ts")
    session.register("t", frame)
    for columns in ("d", "r", "d + 1", "array(d, r)"):
        sql = f"SELECT COUNT(DISTINCT {columns}) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY) "
        off = Session(spark, catalog=session.catalog).sql(sql + "GROUP BY window_start, window_end")
        on = session.sql(sql + "GROUP BY window_start, window_end")
        assert is_split(on.query) and not is_split(off.query)
        assert on.collect() == off.collect()


@pytest.mark.spark
@pytest.mark.soak
def test_on_streams_the_rows_are_those_of_batch_without_it(spark: SparkSession, tmp_path: Path) -> None:
    """Several arguments, filters, and windows of other kinds in one stream; then windows over those windows. In `make
    test` one kind of windows, and what is attached to windows; in `make soak` also windows by the time of those."""
    write_files(tmp_path / "in", some_batches(seed=9, disorder=30, batches=2))
    several = """SELECT {columns}, COUNT(*) AS bids, SUM(price) AS total, AVG(n) AS mean, COUNT(DISTINCT n) AS numbers,
        SUM(DISTINCT n) FILTER (WHERE n > 20) AS high, COUNT(DISTINCT price) AS prices, COUNT(DISTINCT item) AS items,
        FIRST_VALUE(price) AS opening, LAST_VALUE(n) FILTER (WHERE n < 50) AS closing
        FROM TABLE({window}) GROUP BY window_start, window_end, window_time, {keys}"""
    parts = [
        several.format(columns="window_start, window_end, item", window=window, keys="item")
        for window in WINDOWS.values()
    ]
    by_item = several.format(columns="window_time AS rowtime, item", window=WINDOWS["hop"], keys="item")
    again = f"""SELECT window_end, COUNT(DISTINCT numbers), CAST(SUM(total) AS STRING), COUNT(DISTINCT opening)
        FROM TABLE(HOP(TABLE ({by_item}), DESCRIPTOR(rowtime), INTERVAL '20' SECOND, INTERVAL '40' SECOND))
        GROUP BY window_start, window_end"""
    inherited = f"""SELECT window_end, COUNT(DISTINCT numbers), CAST(MAX(bids) AS STRING), COUNT(DISTINCT item)
        FROM ({parts[2]}) GROUP BY window_start, window_end"""
    ranked = f"""SELECT window_end, numbers, CAST(bids AS STRING), items FROM ({parts[1]})
        QUALIFY RANK() OVER (PARTITION BY window_start, window_end ORDER BY numbers DESC) <= 2"""
    some: Any = ((parts[:1], 1), ((inherited, ranked), 3))
    for unions, splits in ((parts[:2], 2), ((again, inherited, ranked), 5)) if SOAK else some:
        sql = " UNION ALL ".join(unions)
        stream, batch = sessions(spark, tmp_path / "in", delay=30)
        stream.execute("SET 'table.optimizer.distinct-agg.split.enabled' = 'true'")
        result = stream.sql(sql)
        assert sum(step.rule == "split_distinct" for step in result.query.steps) == splits
        assert bag(result.collect()) == bag(batch.sql(sql).collect()) != Counter()
        assert stream.counts["numLateRecordsDropped"] == stream.counts["stateRows"] == 0


@pytest.mark.spark
@pytest.mark.soak
def test_on_streams_late_rows_are_those_without_it(spark: SparkSession, tmp_path: Path) -> None:
    """Row by row, over a wall clock that is shifted in the night; a late row counts once for each argument, so with one
    argument (in `make soak`) as often as without the split."""
    made = sorted(random.Random(3).sample(range(36_000), 150), key=lambda s: s + random.Random(s).randrange(20_000))
    visits = [
        {"ts": f"2021-11-07T{2 + s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}Z", "item": "AB"[s % 2], "n": s % 7}
        for s in made
    ]
    (tmp_path / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in visits), encoding="utf-8")
    sql = """SELECT window_start, window_end, window_time, item, COUNT(*) AS rows, COUNT(DISTINCT n) AS numbers {more}
        FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '30' MINUTE, INTERVAL '2' HOUR))
        GROUP BY window_start, window_end, window_time, item"""
    rows, late = [], []
    for more, options in (("items", {}), ("items", SPLIT), *([("", SPLIT)] if SOAK else [])):
        zone = {"table.local-time-zone": "America/Los_Angeles"}
        session = Session(spark, mode="streaming", options={**zone, **options})
        session.execute(
            "CREATE TABLE t (ts TIMESTAMP_LTZ(3), item STRING, n INT, "
            "WATERMARK FOR ts AS ts - INTERVAL '10' MINUTE) WITH ('connector' = 'filesystem', "
            f"'path' = '{tmp_path}', 'format' = 'json', 'scan.watermark.emit.strategy' = 'on-event')"
        )
        result = session.sql(sql.format(more=", COUNT(DISTINCT item) AS items" if more else ""))
        assert is_split(result.query) == bool(options)
        rows.append(Counter(map(tuple, result.collect())))
        late.append(session.counts["numLateRecordsDropped"])
    without_split, of_two, *of_one = rows
    assert of_two == without_split
    assert all(each == Counter(row[:-1] for row in without_split.elements()) for each in of_one)
    assert late == [late[0], 2 * late[0], late[0]][: len(rows)]
    assert late[0] > 0


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.usefixtures("several_partitions")
def test_a_split_stream_goes_on_where_it_was(spark: SparkSession, tmp_path: Path) -> None:
    """The rows are those of batch; in `make soak` those of a stream without the split that was not stopped."""
    batches = some_batches(seed=2, disorder=3, batches=3)
    sql = f"""SELECT window_end, item, COUNT(DISTINCT n) FROM TABLE({WINDOWS["hop"]})
        GROUP BY window_start, window_end, item"""
    write_files(tmp_path / "whole", batches)
    whole = Session(spark, mode="streaming" if SOAK else "batch")
    create_table(whole, "bid", BIDS.format(delay=3), tmp_path / "whole")
    seen: Counter[str] = Counter()
    for upto, final in ((2, False), (3, True)):
        write_files(tmp_path / "parts", batches[:upto])
        session = Session(spark, mode="streaming", options=SPLIT, checkpoint=tmp_path / "checkpoint", final=final)
        create_table(session, "bid", BIDS.format(delay=3), tmp_path / "parts")
        seen += bag(session.sql(sql).collect())
    assert seen == bag(whole.sql(sql).collect())


def is_split(query: Compiled) -> bool:
    return any(step.rule == "split_distinct" for step in query.steps)
