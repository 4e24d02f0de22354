"""The hint STATE_TTL: the joins of its SELECT that keep rows take it; where it has no effect, a warning says so."""

from __future__ import annotations

import pytest

import tvfsql
from tvfsql import TvfSqlError
from tvfsql.plan.joins import RegularJoin

TABLES = "".join(
    f"CREATE TABLE {name} (k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem',"
    f" 'path' = '{name}', 'format' = 'json');"
    for name in "abc"
)
DAY, HOUR = 86_400_000, 3_600_000


def compiled(query: str, **options: str) -> tvfsql.Compiled:
    return tvfsql.compile(TABLES + query, mode="streaming", options=options)


def retentions(query: str, **options: str) -> list[tuple[int, int]]:
    """Of the joins from the outermost one on."""
    found = compiled(query, **options)
    assert found.warnings == ()
    return [node.retention for node in found.optimized.walk() if isinstance(node, RegularJoin)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT /*+ STATE_TTL('a' = '1 d', 'B' = '1 h') */ a.v FROM a JOIN b ON a.k = b.k", [(DAY, HOUR)]),
        ("SELECT /*+ STATE_TTL('x'='1 d') */ x.v FROM a AS x, b AS y WHERE x.k = y.k", [(DAY, 2 * DAY)]),
        (
            "SELECT /*+ STATE_TTL('a' = '1 d', 'b' = '1 h', 'c' = '3 h') */ a.v FROM a JOIN b ON a.k = b.k"
            " LEFT JOIN c ON a.k = c.k",
            [(2 * DAY, 3 * HOUR), (DAY, HOUR)],
        ),
        (
            "SELECT x.v FROM (SELECT /*+ STATE_TTL('b' = '1 h') */ a.k, b.v FROM a JOIN b ON a.k = b.k) AS x"
            " JOIN b ON x.k = b.k",
            [(2 * DAY, 2 * DAY), (2 * DAY, HOUR)],
        ),
        (
            "WITH x AS (SELECT k FROM c) SELECT /*+ STATE_TTL('a' = '1 h'), STATE_TTL('b' = '3 h') */ DISTINCT (a.v)"
            " FROM a JOIN b ON a.k = b.k JOIN (SELECT a.k FROM a JOIN b ON a.v = b.v) AS y ON y.k = a.k",
            [(2 * DAY, 2 * DAY), (HOUR, 3 * HOUR), (2 * DAY, 2 * DAY)],
        ),
        (
            "CREATE VIEW w AS SELECT /*+ STATE_TTL('b' = '1 h') */ a.k, b.v FROM a JOIN b ON a.k = b.k;SELECT * FROM w",
            [(2 * DAY, HOUR)],
        ),
        (
            "SELECT DISTINCT x.k FROM (SELECT k FROM a) AS x JOIN c ON x.k = c.k UNION ALL"
            " SELECT /*+ STATE_TTL('c' = '1 h', 'x' = '3 h') */ x.k FROM (SELECT k FROM a) AS x JOIN c ON x.k = c.k",
            [(2 * DAY, 2 * DAY), (3 * HOUR, HOUR)],
        ),
    ],
)
def test_joins_of_its_select_take_it(query: str, expected: list[tuple[int, int]]) -> None:
    assert retentions(query, **{"table.exec.state.ttl": "2 d"}) == expected


def test_both_sides_need_a_retention() -> None:
    query = "SELECT /*+ STATE_TTL('a' = '1 d', 'b' = '{}') */ a.v FROM a JOIN b ON a.k = b.k"
    assert retentions(query.format("1 h")) == [(DAY, HOUR)]
    with pytest.raises(TvfSqlError, match="would keep its rows forever"):
        compiled(query.format("0 s"), **{"table.exec.state.ttl": "2 d"})


@pytest.mark.parametrize(
    ("query", "warning"),
    [
        ("SELECT /*+ STATE_TTL('a' = '1 d') */ k, COUNT(*) FROM a GROUP BY k", "STATE_TTL"),
        (
            "SELECT /*+ STATE_TTL('a' = '1 d') */ a.v FROM a JOIN b ON a.k = b.k AND a.ts = b.ts",
            "time bounds or windows",
        ),
        (
            "SELECT /*+ STATE_TTL('a' = '1 d') */ a.v FROM a JOIN b FOR SYSTEM_TIME AS OF PROCTIME() AS b ON a.k = b.k",
            "STATE_TTL",
        ),
    ],
)
def test_where_it_has_no_effect_a_warning_says_so(query: str, warning: str) -> None:
    assert any(warning in line for line in compiled(query, **{"table.exec.state.ttl": "2 d"}).warnings)


def test_in_a_query_that_spark_plans_it_has_no_effect() -> None:
    query = "SELECT /*+ STATE_TTL('a' = '1 d') */ (SELECT MAX(v) FROM c) FROM a JOIN b ON a.k = b.k"
    assert any("STATE_TTL" in line for line in tvfsql.compile(TABLES + query, mode="batch").warnings)


def test_it_is_read_as_it_must_be_written() -> None:
    for query, message in {
        "SELECT /*+ STATE_TTL('d' = '1 d') */ a.v FROM a JOIN b ON a.k = b.k": "STATE_TTL names d",
        "SELECT /*+ STATE_TTL('a' = 'long') */ a.v FROM a JOIN b ON a.k = b.k": "takes a duration",
        "SELECT /*+ STATE_TTL('a') */ a.v FROM a JOIN b ON a.k = b.k": "pairs of a table and a duration",
        "SELECT /*+ STATE_TTL('a' = '1 d', 'A' = '2 d') */ a.v FROM a JOIN b ON a.k = b.k": "names a twice",
        "SELECT a.v FROM a /*+ STATE_TTL('a' = '1 d') */ JOIN b ON a.k = b.k": "must follow SELECT",
    }.items():
        with pytest.raises(TvfSqlError, match=message):
            compiled(query)
