"""JOIN LATERAL SNAPSHOT is the lookup join of the same table."""

from __future__ import annotations

import pytest

from tvfsql import compile

TABLES = """CREATE TABLE o (k INT, n INT, ts TIMESTAMP(3), proc AS PROCTIME(), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'o', 'format' = 'json');
CREATE TABLE t (k INT, name STRING) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
CREATE VIEW v AS SELECT name, k FROM t WHERE name <> '';"""
ENRICHED = "SELECT o.ts, o.n, d.name FROM o {} ON o.k = d.k AND o.n > 2"
QUERIES = {
    "inner": ("JOIN LATERAL SNAPSHOT(TABLE t) AS d", "JOIN t FOR SYSTEM_TIME AS OF o.proc AS d"),
    "left": ("LEFT JOIN LATERAL SNAPSHOT(input => TABLE t) AS d", "LEFT JOIN t FOR SYSTEM_TIME AS OF o.proc AS d"),
    "view": ("JOIN LATERAL SNAPSHOT(TABLE v) AS d", "JOIN v FOR SYSTEM_TIME AS OF o.proc AS d"),
    "names": ("JOIN LATERAL SNAPSHOT(TABLE v) AS d (name, k)", "JOIN v FOR SYSTEM_TIME AS OF o.proc AS d (name, k)"),
}


@pytest.mark.parametrize("mode", ["batch", "streaming"])
@pytest.mark.parametrize("windows", [False, True], ids=["rows", "windows"])
@pytest.mark.parametrize("name", QUERIES)
def test_it_is_a_lookup_join(name: str, windows: bool, mode: str) -> None:
    snapshot, lookup = (ENRICHED.format(join) for join in QUERIES[name])
    if windows:
        snapshot, lookup = (
            f"SELECT window_end, name, SUM(n) AS n FROM TABLE(TUMBLE(({query}), DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
            "GROUP BY window_start, window_end, name"
            for query in (snapshot, lookup)
        )
    assert compile(TABLES + snapshot, mode=mode).physical == compile(TABLES + lookup, mode=mode).physical
