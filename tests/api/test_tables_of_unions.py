"""Tables that UNION ALL adds to a running stream, by manifests and plans alone. No JVM."""

from __future__ import annotations

import random

from tests.support.examples import SOAK
from tests.support.stream_queries import PAGES, TABLES, stream
from tvfsql.plan.checkpoint.changes import Verdict, changes
from tvfsql.plan.checkpoint.matching import following

WORD = Verdict.WORD


def test_tables_keep_their_places_and_added_ones_follow() -> None:
    """Whatever their order in the script, also after more than one change."""
    first, second, third = (
        stream(TABLES + PAGES.replace("TABLE page", f"({tables})"))
        for tables in (
            "SELECT k, ts FROM page",
            "SELECT item AS k, ts FROM sale UNION ALL SELECT k, ts FROM page",
            "SELECT shop AS k, ts FROM bid UNION ALL SELECT item, ts FROM sale UNION ALL SELECT k, ts FROM page",
        )
    )
    kept = following(first.manifest, second.over(first.manifest).manifest)
    assert [(one.table, one.since) for one in kept.sources] == [("page", 0), ("sale", 1)]
    resumed = third.over(kept)
    kept = following(kept, resumed.manifest)
    assert [(one.table, one.since) for one in kept.sources] == [("page", 0), ("sale", 1), ("bid", 2)]
    assert [source.table for source in resumed.job["reads"]] == ["page", "sale", "bid"]
    assert "union_streams(page, sale, bid)" in resumed.code and 'inputs=["1/", "2/", "3/"]' in resumed.code
    assert third.over(kept).code == resumed.code


def test_any_tables_can_be_added_at_any_place() -> None:
    """Random sides, twice more of them, nested at random, under other names. The same table with other conditions is
    another one."""
    sides = [f"SELECT {item}, {n} AS price, ts FROM {table}" for n, (item, table) in enumerate(SIDES)]
    sides += [f"SELECT item, {n} AS price, ts FROM bid WHERE price > {n}" for n in range(10, 13)]
    for seed in range(80 if SOAK else 15):
        draw = random.Random(seed)
        chosen = draw.sample(sides, draw.randrange(3, len(sides)))
        first, second = sorted(draw.sample(range(1, len(chosen)), 2))
        over = draw.choice((WINDOWS_OVER, ROWS_OVER, JOIN_OVER, PLAIN_OVER))
        times = over.count("{rows}")
        kept = stream(TABLES + over.format(rows=nested(draw, chosen[:first]))).manifest
        for upto, added in ((second, second - first), (len(chosen), len(chosen) - second)):
            script = TABLES + over.format(rows=nested(draw, chosen[:upto]))
            resumed = stream(script).over(kept)
            found = changes(kept, resumed.manifest)
            assert [(change.what, change.verdict) for change in found] == [("UNION ALL", WORD)] * added * times, found
            before, kept = kept, following(kept, resumed.manifest)
            tables = [one.table for one in kept.sources]
            news = [one.since > max(each.since for each in before.sources) for one in kept.sources]
            assert [table for table, new in zip(tables, news, strict=True) if not new] == [
                one.table for one in before.sources
            ]
            assert [source.table for source in resumed.job["reads"]] == tables
            again = stream(script).over(kept)
            assert changes(kept, again.manifest) == [] and again.code == resumed.code


SIDES = [("item", "bid2"), ("item", "sale"), ("shop AS item", "bid"), ("k AS item", "page")]
ROWS_OVER = """SELECT item, price, ts FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts) AS n FROM ({rows})) WHERE n = 1"""
WINDOWS_OVER = """SELECT window_end, item, SUM(price) FROM TABLE(SESSION(({rows}) PARTITION BY item, DESCRIPTOR(ts),
  INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, item"""
JOIN_OVER = """SELECT a.item, b.price FROM ({rows}) a JOIN ({rows}) b
  ON a.item = b.item AND a.ts BETWEEN b.ts - INTERVAL '5' MINUTE AND b.ts"""
PLAIN_OVER = "SELECT item, price + 1 FROM ({rows}) WHERE price < 100"


def nested(draw: random.Random, sides: list[str]) -> str:
    """The sides in any order, with parentheses anywhere."""
    parts = draw.sample(sides, len(sides))
    while len(parts) > 1:
        at = draw.randrange(len(parts) - 1)
        both = f"{parts[at]} UNION ALL {parts[at + 1]}"
        parts[at : at + 2] = [f"SELECT * FROM ({both})" if draw.randrange(2) else both]
    return parts[0]


def test_sides_of_a_union_keep_the_names_of_their_channels() -> None:
    """In processing time a UNION ALL of three tables is nested."""
    query = "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE((SELECT *, PROCTIME() AS p FROM ({tables})), "
    query += "DESCRIPTOR(p), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end"
    two = "SELECT item FROM bid UNION ALL SELECT item FROM sale"
    before = stream(TABLES + query.format(tables=two))
    added = stream(TABLES + query.format(tables=f"{two} UNION ALL SELECT k FROM page"))
    assert 'inputs=["1/1/", "1/2/", "2/"]' in added.code
    assert 'inputs=["1/", "2/", "3/"]' in added.over(before.manifest).code


def test_a_table_is_added_below_what_inserts_share() -> None:
    script = """CREATE TABLE out1 (a TIMESTAMP(3), n BIGINT) WITH ('connector' = 'print');
    CREATE TABLE out2 WITH ('connector' = 'print') LIKE out1;
    CREATE TEMPORARY VIEW totals AS SELECT window_start, item, COUNT(*) AS n
    FROM TABLE(TUMBLE(({tables}), DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, item;
    EXECUTE STATEMENT SET BEGIN
      INSERT INTO out1 SELECT window_start, n FROM totals;
      INSERT INTO out2 SELECT window_start, n + 1 FROM totals;
    END;"""
    before, after = (
        stream(TABLES + script.format(tables=tables))
        for tables in ("SELECT item, ts FROM bid", "SELECT item, ts FROM sale UNION ALL SELECT item, ts FROM bid")
    )
    resumed = after.over(before.manifest)
    (change,) = changes(before.manifest, resumed.manifest)
    assert change.verdict is WORD and change.after == "sale (sales)"
    assert resumed.code.count("union_streams(bid, sale)") == 1 and "union_streams(" not in before.code
