"""Metrics that need the plan of a stream: the watermarks of its tables, and the delay of its windows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import tvfsql
from tvfsql.api.program import Program, streams_of
from tvfsql.api.script import Script, queries_of
from tvfsql.api.streams.running import by_table
from tvfsql.runtime.stream.progress.metrics import Metrics
from tvfsql.runtime.stream.progress.operators import OperatorCounts
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

TABLES = "".join(
    f"CREATE TABLE {name} (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)"
    f" WITH ('connector' = 'kafka', 'topic' = '{name}', 'properties.bootstrap.servers' = 'h:1', 'format' = 'json');"
    for name in ("bid", "click")
)
WINDOWS = (
    "SELECT window_start, window_end, item, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts),"
    " INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, item"
)
JOIN = (
    "SELECT l.item, l.ts, r.ts AS clicked FROM bid AS l JOIN click AS r"
    " ON l.item = r.item AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '1' MINUTE"
)
CASCADE = (
    "SELECT window_start, window_end, SUM(n) AS n FROM TABLE(TUMBLE(TABLE minutes, DESCRIPTOR(ts), INTERVAL '1' HOUR))"
    " GROUP BY window_start, window_end"
)
MINUTES = (
    "CREATE VIEW minutes AS SELECT window_time AS ts, n FROM (SELECT window_start, window_end, window_time,"
    " COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
    " GROUP BY window_start, window_end, window_time);"
)


def program(sql: str) -> Program:
    return Program((tvfsql.compile(TABLES + sql, mode="streaming"),))


def metrics(of: Program, reports: Mapping[str, Mapping[str, Any]], before: Metrics | None = None) -> Metrics:
    """The metrics of a micro-batch that ended at 1000 s, in which operators observed this."""
    operators = OperatorCounts()
    for name, report in reports.items():
        operators.take(name, {"stateRows": 1, **report})
    return by_table(Metrics("s", 1, 1000.0, {}, {}, operators=operators), of, before)


def channels(*states: tuple[int, str | None, int | None, str]) -> str:
    return json.dumps(states)


def test_each_partition_of_each_table_has_a_watermark() -> None:
    stream = program(JOIN)
    assert set(stream.input_tables.values()) == {("bid", "click")}
    (operator,) = stream.observed
    states = channels((1, "0", 990_000, "active"), (1, "1", 900_000, "idle"), (2, "0", None, "no watermark"))
    found = metrics(stream, {operator: {"channels": states}})
    assert found.values["channels"] == [
        {"table": "bid", "partition": "0", "status": "active", "watermark": 990.0, "watermark_lag_seconds": 10.0},
        {"table": "bid", "partition": "1", "status": "idle", "watermark": 900.0, "watermark_lag_seconds": 100.0},
        {"table": "click", "partition": "0", "status": "no watermark"},
    ]
    states = channels((1, "0", END_OF_INPUT, "active"), (2, "0", 990_000, "active"))
    assert [one["table"] for one in metrics(stream, {operator: {"channels": states}}).channels] == ["click"]
    assert not metrics(stream, {operator: {"channels": states, "watermark": END_OF_INPUT}}).channels


def test_of_a_table_that_is_read_twice_the_operator_that_is_behind_counts() -> None:
    one, other = (WINDOWS.format("bid"), WINDOWS.format("bid").replace("'1' MINUTE", "'90' SECOND"))
    stream = program(f"{one} UNION ALL {other}")
    first, second = stream.observed
    for marks in ((5_000, 4_000), (4_000, 5_000)):
        reports = {
            name: {"channels": channels((1, None, mark, "active"))}
            for name, mark in zip((first, second), marks, strict=True)
        }
        assert [one["watermark"] for one in metrics(stream, reports).channels] == [4.0]
    assert stream.last_operators == [first, second]


def test_the_delay_of_windows_is_that_of_the_oldest_one_whose_rows_reach_the_sink() -> None:
    stream = program(MINUTES + CASCADE)
    lower, upper = stream.observed
    assert stream.last_operators == [upper] and stream.input_tables == {lower: ("bid",), upper: (None,)}
    assert "window_delay_seconds" not in metrics(stream, {lower: {"firedEnd": 999_000}}).values
    fired = metrics(stream, {lower: {"firedEnd": 999_000}, upper: {"firedEnd": 960_000}})
    assert fired.values["window_delay_seconds"] == 40.0
    assert metrics(stream, {lower: {"firedEnd": 999_000}}, before=fired).values["window_delay_seconds"] == 40.0


def test_insert_statements_that_share_windows_have_one_operator() -> None:
    sinks = "".join(f"CREATE TABLE s{i} (item STRING, n BIGINT) WITH ('connector' = 'blackhole');" for i in "12")
    inserts = "".join(f"INSERT INTO s{i} SELECT item, n FROM ({WINDOWS.format('bid')});" for i in "12")
    outcomes = Script(mode="streaming").outcomes(f"{TABLES}{sinks}EXECUTE STATEMENT SET BEGIN {inserts} END")
    (stream,) = [found for outcome in outcomes for found in streams_of(queries_of(outcome))]
    (operator,) = stream.observed
    assert stream.last_operators == [operator] and stream.input_tables == {operator: ("bid",)}
