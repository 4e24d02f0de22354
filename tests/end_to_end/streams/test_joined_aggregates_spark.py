"""Joins of two TUMBLE aggregates on streams, in one operator, against batch; checkpoints of operators for each side."""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.end_to_end.test_window_joins import COLUMNS
from tests.support.bids import create_table, write_files
from tvfsql import Session, TvfSqlError
from tvfsql.rules.joins.aggregates import aggregate_both_sides_of_join

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULE = aggregate_both_sides_of_join.name
BY_WINDOW = "l.window_start = r.window_start AND l.window_end = r.window_end"
WINDOW = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
L, R = WINDOW.format("l"), WINDOW.format("r")
COUNTS = "(SELECT window_start, window_end, k, COUNT(*) AS n, {} AS v FROM {} GROUP BY window_start, window_end, k{})"
SETS = "(SELECT DISTINCT window_start, window_end, k, {} AS v FROM {})"
BIDS, OFFERS = COUNTS.format("SUM(x)", L, ""), COUNTS.format("MAX(y)", R, "")
BUSY = COUNTS.format("COUNT(DISTINCT y)", R, " HAVING COUNT(*) > 1")
# the columns, both sides, the kind of join, and the conditions beside equal windows
JOINS = (
    ("l.k, l.v, r.n", SETS.format("x", L), OFFERS, "JOIN", "l.k = r.k"),
    ("l.k, l.v, r.v", SETS.format("x", L), SETS.format("y", R), "JOIN", "l.k = r.k AND l.v < r.v"),
    ("l.k, l.v, r.v", SETS.format("x", L), SETS.format("y", R), "RIGHT JOIN", "l.k = r.k"),
    ("l.k, l.n, r.v", BIDS, BUSY, "LEFT JOIN", "l.k = r.k AND l.v <> r.v"),
    ("COALESCE(l.k, r.k), l.n, r.n", BIDS, OFFERS, "FULL JOIN", "l.k = r.k"),
    ("l.k, l.n, r.n", BIDS, BUSY, "FULL JOIN", "l.k IS NOT DISTINCT FROM r.k"),
    ("l.k, l.n, l.v", BIDS, BUSY, "LEFT SEMI JOIN", "l.k IS NOT DISTINCT FROM r.k AND l.n <= r.n"),
    ("l.k, l.n, l.v", BIDS, SETS.format("y", R), "LEFT ANTI JOIN", "l.k = r.k"),
)
QUERY = " UNION ALL ".join(
    f"SELECT {i} AS number, l.window_end, {columns} FROM {left} l {kind} {right} r ON {BY_WINDOW} AND {condition}"
    for i, (columns, left, right, kind, condition) in enumerate(JOINS)
)


def random_rows(draw: random.Random, value: str, first: int) -> list[list[dict[str, Any]]]:
    """Two files, the second with rows that are late by the watermark of its table alone."""
    made = []
    for i in range(60):
        second = max(0, first + i - draw.randrange(6) - 25 * (i > 30 and draw.random() < 0.2))
        time = f"2020-04-15 08:{second // 60:02d}:{second % 60:02d}"
        made.append({"ts": time, "k": draw.choice(["a", "b", "c", "d", None]), value: draw.randrange(4)})
    return [made[:30], made[30:]]


def in_time(files: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The rows of a table that are not late: each file is a micro-batch, and the watermark 2 seconds behind."""
    kept, newest = list[dict[str, Any]](), datetime.min
    for rows in files:
        times = [datetime.fromisoformat(row["ts"]) for row in rows]
        ends = [time.replace(second=time.second // 10 * 10) + timedelta(seconds=9.999) for time in times]
        kept += [row for row, end in zip(rows, ends, strict=True) if end > newest]
        newest = max(newest, *(time - timedelta(seconds=2) for time in times))
    return kept


@pytest.mark.spark
def test_rows_are_those_of_the_batch_over_rows_that_are_not_late(spark: SparkSession, tmp_path: Path) -> None:
    """Two runs over one checkpoint, as after a restart: late rows of each side, keys that are NULL, a slower side."""
    draw = random.Random(5)
    files = {"l": random_rows(draw, "x", 0), "r": random_rows(draw, "y", 12)}
    found, late = Counter[tuple[Any, ...]](), 0
    for run in range(2):
        session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=run == 1)
        for table, value in (("l", "x"), ("r", "y")):
            write_files(tmp_path / table, files[table][: run + 1])
            create_table(session, table, COLUMNS.format(value, 2), tmp_path / table)
        found.update(map(tuple, session.sql(QUERY).collect()))
        late += session.counts["numLateRecordsDropped"]
    batch = Session(spark)
    for table, value in (("l", "x"), ("r", "y")):
        write_files(tmp_path / f"{table}-in-time", [in_time(files[table])])
        create_table(batch, table, COLUMNS.format(value, 2), tmp_path / f"{table}-in-time")
    assert found == Counter(map(tuple, batch.sql(QUERY).collect()))
    dropped = [sum(map(len, of)) - len(in_time(of)) for of in files.values()]
    assert late == len(JOINS) * sum(dropped)
    assert all(dropped)
    assert {row[0] for row in found} == {*range(len(JOINS))}


@pytest.mark.spark
def test_a_checkpoint_of_operators_for_each_side_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    columns, left, right, kind, condition = JOINS[0]
    query = f"SELECT {columns} FROM {left} l {kind} {right} r ON {BY_WINDOW} AND {condition}"

    def run(**options: str) -> list[Any]:
        named = {key.replace("_", "."): value for key, value in options.items()}
        session = Session(spark, mode="streaming", options=named, checkpoint=tmp_path / "checkpoint", final=False)
        for table, value in (("l", "x"), ("r", "y")):
            create_table(session, table, COLUMNS.format(value, 2), tmp_path / table)
        return session.sql(query).collect()

    draw = random.Random(6)
    for table, value in (("l", "x"), ("r", "y")):
        write_files(tmp_path / table, random_rows(draw, value, 0)[:1])
    run(tvfsql_rules_disabled=RULE)
    with pytest.raises(TvfSqlError, match="their number and order cannot change") as caught:
        run()
    assert RULE in str(caught.value)
    assert run(tvfsql_rules_disabled=RULE) == []
