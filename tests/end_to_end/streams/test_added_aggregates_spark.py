"""A stream whose query gets more aggregates between two runs, on Spark, with partials of all kinds and types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tvfsql import Session
from tvfsql.errors import OptionError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = """CREATE TABLE bid (item STRING, price BIGINT, paid DECIMAL(10, 2), weight DOUBLE, fresh BOOLEAN,
  seen TIMESTAMP_LTZ(3), day DATE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json');
CREATE FUNCTION weightedAvg AS 'user_functions.WeightedAvg' LANGUAGE PYTHON;
"""
OLD = "COUNT(*) AS n, SUM(price) AS total"
NEW = {
    "COUNT(paid)": 0,
    "COUNT(*) FILTER (WHERE fresh)": 0,
    "MIN(price)": None,
    "MAX(item)": None,
    "MAX(seen)": None,
    "MIN(day)": None,
    "SUM(paid)": None,
    "AVG(weight)": None,
    "AVG(paid)": None,
    "BOOL_OR(fresh)": None,
    "STDDEV_POP(weight)": None,
    "COUNT(DISTINCT price)": 0,
    "SUM(DISTINCT price)": None,
    "FIRST_VALUE(paid)": None,
    "LAST_VALUE(seen)": None,
    "LISTAGG(item)": None,
    "ARRAY_AGG(seen)": None,
    "weightedAvg(price, 2)": None,
}
QUERY = """SELECT window_start, window_end, item, {aggregates}
FROM TABLE({window}) GROUP BY window_start, window_end, item"""
WINDOWS = {
    "hop": "HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '20' MINUTE)",
    "session": "SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(ts), INTERVAL '3' MINUTE)",
}
RUNS = (
    [("a", 5, 10), ("b", 7, 80), ("a", 3, 150), ("a", 5, 280), ("c", 1, 300)],
    [("c", 4, 330), ("a", 9, 340), ("a", 5, 350), ("b", 2, 390)],
    [("a", 2, 400), ("d", 6, 2000), ("d", 6, 2001)],
)


@pytest.mark.spark
@pytest.mark.parametrize("window", WINDOWS)
def test_new_aggregates_count_rows_from_the_change_on(spark: SparkSession, tmp_path: Path, window: str) -> None:
    """Three runs, the first without the new aggregates, and the third without the user's word."""
    old = QUERY.format(aggregates=OLD, window=WINDOWS[window])
    named = ", ".join(f"{call} AS new{i}" for i, call in enumerate(NEW))
    new = QUERY.format(aggregates=f"{named}, {OLD}", window=WINDOWS[window])
    found = list[dict[str, Any]]()
    for number, rows in enumerate(RUNS):
        _write(tmp_path / "in", number, rows)
        last = number == len(RUNS) - 1
        if number == 1:
            with pytest.raises(OptionError, match="new ones count rows from now on"):
                _session(spark, tmp_path, "in", last=last).sql(new).collect()
        session = _session(spark, tmp_path, "in", last=last, allowed=number == 1)
        found += [row.asDict(recursive=True) for row in session.sql(old if number == 0 else new).collect()]
    for number, rows in enumerate(RUNS[1:], 1):
        _write(tmp_path / "later", number, rows)
    whole = _in_batch(spark, tmp_path, "in", new)
    later = _in_batch(spark, tmp_path, "later", new)
    if window == "session":  # a session that was open at the change has other borders without its earlier rows
        later = {_session_of(key, whole): row for key, row in later.items()}
    for row in found:
        key = _key(row)
        assert (row["n"], row["total"]) == (whole[key]["n"], whole[key]["total"])
        for i, (call, nothing) in enumerate(NEW.items()):
            if f"new{i}" in row:
                expected = later[key][f"new{i}"] if key in later else nothing
                assert row[f"new{i}"] == expected, (call, row)
    assert sorted(map(_key, found)) == sorted(whole)
    assert sum("new0" in row and row["new0"] < row["n"] for row in found) > 1


def _session(
    spark: SparkSession, folder: Path, path: str, *, last: bool = True, allowed: bool = False, stream: bool = True
) -> Session:
    mode, checkpoint = ("streaming", folder / "checkpoint") if stream else ("batch", None)
    session = Session(spark, mode, checkpoint=checkpoint, final=last, allow_changed_input=allowed)
    session.execute(TABLE.format(path=folder / path))
    return session


def _in_batch(spark: SparkSession, folder: Path, path: str, query: str) -> dict[Any, dict[str, Any]]:
    rows = _session(spark, folder, path, stream=False).sql(query).collect()
    return {_key(row): row.asDict(recursive=True) for row in rows}


def _key(row: Any) -> tuple[Any, ...]:
    return row["window_start"], row["window_end"], row["item"]


def _session_of(key: tuple[Any, ...], whole: Any) -> tuple[Any, ...]:
    """The session of all rows that contains a session of some of them."""
    return next(each for each in whole if each[2] == key[2] and each[0] <= key[0] and key[1] <= each[1])


def _write(folder: Path, number: int, rows: list[tuple[str, int, int]]) -> None:
    told = [
        {
            "item": item,
            "price": price,
            "paid": price / 4,
            "weight": price * 1.5,
            "fresh": price % 2 == 0,
            "seen": f"2024-01-01T00:00:{price:02}Z",
            "day": f"2024-01-{price:02}",
            "ts": f"2024-01-01 00:{second // 60:02}:{second % 60:02}",
        }
        for item, price, second in rows
    ]
    folder.mkdir(exist_ok=True)
    (folder / f"{number}.json").write_text("".join(f"{json.dumps(row)}\n" for row in told), encoding="utf-8")
