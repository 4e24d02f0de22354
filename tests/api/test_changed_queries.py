"""What a checkpoint goes on with: each row of the table in docs/streams.md, by manifests alone. No JVM."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from tests.support.stream_queries import (
    BEST,
    BEST_SO_FAR,
    CASCADE,
    CHANGES,
    EARLY,
    FIRST,
    FOUR,
    GROUPS,
    HISTORY,
    INSTANTS,
    LAST,
    PAGES,
    PAIRS,
    PLAIN,
    SESSIONS,
    TABLES,
    TOP,
    TOTALS,
    UPSERTS,
    stream,
)
from tvfsql.plan.checkpoint.changes import Verdict, changes, verdict_of
from tvfsql.plan.checkpoint.manifest import Manifest
from tvfsql.plan.checkpoint.matching import following, resolved

FREE, WORD, REFUSED = Verdict
ALSO_BID2 = "UNION ALL SELECT item, price, ts FROM bid2"
FIRST_OF = FIRST.replace("FROM bid WHERE", "FROM (SELECT item, price, ts FROM bid) WHERE")
FIRST_OF_TWO = FIRST.replace("PARTITION BY item", "PARTITION BY item, shop")
TURNED = (
    "SELECT k, ts FROM page UNION ALL SELECT item, ts FROM sale",
    "SELECT item AS k, ts FROM sale UNION ALL SELECT k, ts FROM page",
)
UNION = PAGES.replace("TABLE page", f"({TURNED[0]})")


@dataclass(frozen=True)
class Case:
    """A change of a query by words that are replaced, and what becomes of its checkpoint."""

    name: str
    query: str
    old: str
    new: str
    verdict: Verdict
    says: str = ""
    also: str = ""  # before the query, unchanged


CASES = [
    Case("comment", TOTALS, "SELECT window_start", "SELECT /* totals */ window_start", FREE),
    Case("projection", TOTALS, "SUM(price) AS total,", "SUM(price) * 2 AS total,", FREE),
    Case(
        "columns left out that others need",
        TOTALS,
        "SUM(price) AS total, MAX",
        "MIN(0) AS total, MAX",
        WORD,
        "aggregates: new ones count rows from now on",
    ),
    Case("fewer of the rows that are buffered", BEST, "place <= 3", "place = 1", FREE),
    Case("more of them", BEST, "place <= 3", "place <= 4", REFUSED, "state lacks what it needs"),
    Case("others of them", BEST, "price DESC", "price", REFUSED, "state lacks what it needs"),
    Case("having", TOTALS, "HAVING SUM(price) > 10", "HAVING MAX(price) > 20", FREE),
    Case("rename", TOTALS, "AS total", "AS amount", FREE),
    Case(
        "order of results", TOTALS, "SUM(price) AS total, MAX(price) AS most", "MAX(price) AS m, SUM(price) AS t", FREE
    ),
    Case("order of keys", TOTALS, "window_end, item, shop", "shop, item, window_end", FREE),
    Case("format of the sink", TOTALS, "'out', 'format' = 'json'", "'out', 'format' = 'csv'", FREE),
    Case("another sink", TOTALS, "'path' = 'out'", "'path' = 'elsewhere'", FREE, r"\+ out1 \(elsewhere\)"),
    Case("watermark", TOTALS, "INTERVAL '5' SECOND", "INTERVAL '1' HOUR", FREE, "WATERMARK of table bid"),
    Case("options of the source", TOTALS, "'path' = 'in'", "'path' = 'in', 'maxFilesPerTrigger' = '3'", FREE),
    Case("idle timeout", TOTALS, "INSERT", "SET 'table.exec.source.idle-timeout' = '3 s'; INSERT", FREE),
    Case("null times", TOTALS, "INSERT", "SET 'table.exec.source.rowtime-null-handling' = 'DROP'; INSERT", FREE),
    Case("columns of the table", TOTALS, "price BIGINT,", "price BIGINT, more STRING,", FREE),
    Case("rules", TOTALS, "INSERT", "SET 'tvfsql.rules.disabled' = 'drop_idle_project'; INSERT", FREE),
    Case(
        "rules of state",
        TOTALS,
        "INSERT",
        "SET 'tvfsql.rules.disabled' = 'push_filter_below_window'; INSERT",
        REFUSED,
        "window",
    ),
    Case(
        "where",
        TOTALS,
        "price > 3",
        "price > 4",
        WORD,
        r"WHERE below GROUP BY window.*\n    - price > 3\n    \+ price > 4",
    ),
    Case("where left out", TOTALS, "WHERE price > 3", "", WORD, "hold rows that met the old one"),
    Case("path of the source", TOTALS, "'path' = 'in'", "'path' = 'moved'", REFUSED, "by their paths"),
    Case(
        "window size",
        TOTALS,
        "INTERVAL '5' MINUTE",
        "INTERVAL '10' MINUTE",
        REFUSED,
        r"- HOP\(size=\[5 min\].*\n.*\+ HOP",
    ),
    Case(
        "window kind",
        TOTALS,
        "HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '1'",
        "CUMULATE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1'",
        REFUSED,
    ),
    Case(
        "key left out",
        TOTALS.replace("item, shop, SUM", "item, 'x', SUM"),
        "window_end, item, shop",
        "window_end, item",
        REFUSED,
        "GROUP BY: state is kept by the old keys",
    ),
    Case("new aggregate", SESSIONS, "COUNT(*)", "COUNT(*), COUNT(DISTINCT shop)", WORD, "from now on"),
    Case(
        "average of an old sum",
        TOTALS,
        "MAX(price) AS most",
        "AVG(price) AS mean",
        REFUSED,
        r"one result would combine all rows(.|\n)*results that combine sum\(price\)",
    ),
    Case("count", SESSIONS, "COUNT(*)", "COUNT(*), COUNT(price)", WORD, r"\+ count\(price\)"),
    Case("expression", SESSIONS, "COUNT(*)", "MAX(price + 1)", WORD, r"\+ max\(price \+ 1\) \(price bigint\)$"),
    Case("distinct", SESSIONS, "COUNT(*)", "COUNT(DISTINCT shop)", WORD, r"\+ distinct\(shop\)"),
    Case("average alone", SESSIONS, "COUNT(*)", "AVG(price)", WORD, "from now on"),
    Case("sum of an old average", TOTALS.replace("MAX", "AVG"), "AVG(price) AS most", "SUM(price) AS most", FREE),
    Case(
        "new and old one in one result",
        TOTALS,
        "MAX(price) AS most",
        "MAX(price) + COUNT(DISTINCT item) AS most",
        REFUSED,
        "results that combine max",
    ),
    Case("condition on both", TOTALS, "HAVING SUM(price) >", "HAVING SUM(price) > MIN(price) +", REFUSED, "combine"),
    Case("conditions on each", TOTALS, "HAVING", "HAVING MIN(price) < 4 AND", WORD, "from now on"),
    Case("new aggregate of sessions", SESSIONS, "COUNT(*)", "COUNT(*), MAX(price)", WORD, "from now on"),
    Case(
        "new aggregate over a history", HISTORY, "COUNT(*) AS n", "COUNT(*) AS n, MIN(item) AS m", WORD, "from now on"
    ),
    Case(
        "new aggregate that would be emitted",
        PAGES,
        "COUNT(*)",
        "COUNT(*), MAX(k)",
        REFUSED,
        "state remembers results without them",
        also=EARLY,
    ),
    Case(
        "new aggregate of changed steps",
        PAGES.replace("TUMBLE", "CUMULATE").replace("'1' MINUTE", "'1' MINUTE, INTERVAL '5' MINUTE"),
        "COUNT(*)",
        "COUNT(*), MAX(k)",
        REFUSED,
        "state remembers results without them",
        also="SET 'tvfsql.cumulate.emit' = 'changed';",
    ),
    Case(
        "new aggregate over changes",
        CHANGES,
        "COUNT(*)",
        "COUNT(*), SUM(price)",
        REFUSED,
        "subtract rows that they have not counted",
    ),
    Case("new aggregate below another window", CASCADE, "MAX(n) AS most", "MAX(n) AS most, MIN(s) AS least", WORD),
    Case(
        "swapped names between windows",
        CASCADE,
        "SUM(price) AS n, COUNT(*) AS s",
        "COUNT(*) AS n, SUM(price) AS s",
        WORD,
        r"- max\(sum\(price\)\).*\n    \+ max\(sum\(1L\)\)",
    ),
    Case(
        "a table added by UNION ALL",
        PAGES,
        "TUMBLE(TABLE page",
        "TUMBLE((SELECT k, ts FROM page UNION ALL SELECT item, ts FROM sale)",
        WORD,
        r"UNION ALL: its rows count from now on.*\n    \+ sale \(sales\)",
    ),
    Case(
        "two tables in front, with other names",
        PAGES,
        "TUMBLE(TABLE page",
        "TUMBLE((SELECT item AS k, ts FROM sale UNION ALL SELECT shop, ts FROM bid UNION ALL SELECT * FROM page)",
        WORD,
        r"\+ sale \(sales\)(.|\n)*\+ bid \(in\)",
    ),
    Case(
        "the same table once more",
        PAGES,
        "TUMBLE(TABLE page",
        "TUMBLE((SELECT k, ts FROM page WHERE k > 'a' UNION ALL SELECT k, ts FROM page)",
        WORD,
        r"\+ page \(pages\)",
    ),
    Case("a table added to rows", FIRST_OF, "FROM bid)", f"FROM bid {ALSO_BID2})", WORD, r"\+ bid2 \(other\)"),
    Case(
        "a table added to a side of a join",
        PAIRS.replace("FROM bid JOIN", "FROM (SELECT item, price, ts FROM bid) bid JOIN"),
        "ts FROM bid)",
        f"ts FROM bid {ALSO_BID2})",
        WORD,
        r"\+ bid2 \(other\)",
    ),
    Case("a table added without state", PLAIN, "SELECT", "SELECT item FROM sale UNION ALL SELECT", WORD, r"\+ sale"),
    Case(
        "a table added with other changes",
        PAGES,
        "COUNT(*) FROM TABLE(TUMBLE(TABLE page",
        "MAX(k) FROM TABLE(TUMBLE((SELECT item AS k, ts FROM sale UNION ALL SELECT k, ts FROM page)",
        WORD,
        r"aggregates: (.|\n)*\+ sale",
    ),
    Case(
        "an added table with a history",
        HISTORY.replace("SELECT", "CREATE TABLE live2 WITH ('path' = 'live2') LIKE live; SELECT"),
        "TUMBLE(TABLE live",
        "TUMBLE((SELECT * FROM live UNION ALL SELECT * FROM live2)",
        REFUSED,
        "tvfsql.history of table live2: a history is read before a stream starts",
    ),
    Case("a table that is joined", PAGES, PAGES, PAIRS, REFUSED, "operators with state"),
    Case(
        "an added table below a window of its own",
        CASCADE,
        "), DESCRIPTOR(at)",
        """ UNION ALL SELECT window_time AS at, item, SUM(price) AS n, COUNT(*) AS s
        FROM TABLE(TUMBLE(TABLE bid2, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
        GROUP BY window_start, window_end, window_time, item), DESCRIPTOR(at)""",
        REFUSED,
        "operators with state",
    ),
    Case("a table left out", UNION, "UNION ALL SELECT item, ts FROM sale", "", REFUSED, "no table can leave"),
    Case("another order of tables", UNION, *TURNED, FREE),
    Case("a table between others", UNION, "UNION ALL", "UNION ALL SELECT shop, ts FROM bid UNION ALL", WORD, "bid"),
    Case("more columns of rows in windows", BEST, "item, price,", "item, shop, price,", REFUSED, "state lacks"),
    Case("dropped aggregate", TOTALS, "MAX(price) AS most", "SUM(price) AS most", FREE, "dropped from state"),
    Case("dropped and new ones", TOTALS, "MAX(price) AS most", "MIN(price) AS most", WORD, r"- max.*\n    \+ min"),
    Case(
        "dropped aggregate that was emitted",
        PAGES.replace("COUNT(*)", "COUNT(*), MAX(k)"),
        ", MAX(k)",
        "",
        REFUSED,
        "state keeps more",
        also=EARLY,
    ),
    Case("another argument", TOTALS, "MAX(price)", "MAX(price + 1)", WORD, r"\+ max\(price \+ 1"),
    Case("type of a column", TOTALS, "price BIGINT", "price INT", WORD, "aggregates"),
    Case(
        "key groups",
        TOTALS,
        "INSERT",
        "SET 'pipeline.max-parallelism' = '8'; INSERT",
        REFUSED,
        "pipeline.max-parallelism",
        also=FOUR,
    ),
    Case("key groups of the checkpoint", TOTALS, "SET 'pipeline.max-parallelism' = '4';", "", FREE, also=FOUR),
    Case("another table", TOTALS, "FROM TABLE(HOP(TABLE bid", "FROM TABLE(HOP(TABLE bid2", REFUSED, "another table"),
    Case("early firing", PAGES, "SELECT", f"{EARLY} SELECT", REFUSED, "state remembers what was emitted"),
    Case("delay of early firing", PAGES, "'1 s'", "'5 s'", FREE, "from now on", also=EARLY),
    Case("zone", PAGES, "SELECT", "SET 'table.local-time-zone' = 'Asia/Tokyo'; SELECT", FREE),
    Case("zone of windows", INSTANTS, "SELECT", "SET 'table.local-time-zone' = 'Asia/Tokyo'; SELECT", REFUSED, "zone"),
    Case("limit of a Top-N", TOP, "place <= 3", "place <= 2", FREE),
    Case("late output", TOTALS, "INSERT", "SET 'tvfsql.late-output' = 'late'; INSERT", REFUSED, "use another path"),
    Case("topic", PAGES, "'topic' = 'pages'", "'topic' = 'others'", REFUSED, "its offsets mean nothing there"),
    Case("servers", PAGES, "one:9092", "two:9092", FREE),
    Case("gap of sessions", SESSIONS, "'1' MINUTE", "'2' MINUTE", REFUSED, "window"),
    Case("session projection", SESSIONS, "COUNT(*)", "COUNT(*) + 1 AS n", FREE),
    Case("late output of a SELECT", SESSIONS, "SELECT", "SET 'tvfsql.late-output' = 'late'; SELECT", FREE),
    Case("where of rows", FIRST, "price > 3", "price > 4", WORD, "WHERE below ROW_NUMBER"),
    Case("projection of rows", FIRST, "SELECT item, ts", "SELECT UPPER(item) AS i, ts", FREE),
    Case(
        "columns of a table of rows",
        FIRST,
        "price BIGINT,",
        "price BIGINT, more STRING,",
        REFUSED,
        "columns of its rows",
    ),
    Case("last row", FIRST, "ORDER BY ts)", "ORDER BY ts DESC)", REFUSED, "operators with state"),
    Case("order of keys of upserts", UPSERTS, "BY item, shop", "BY shop, item", FREE),
    Case(
        "order of aggregates of upserts",
        UPSERTS,
        "COUNT(*) AS n, SUM(price) AS total",
        "SUM(price) AS total, COUNT(*) AS n",
        FREE,
    ),
    Case("expression over upserts", UPSERTS, "SELECT n, item, total", "SELECT n + 1, item, total", FREE),
    Case("sink of upserts", UPSERTS, "'table-name' = 'kept'", "'table-name' = 'other'", FREE),
    Case("where of upserts", UPSERTS, "price > 3", "price > 4", WORD, "WHERE below GROUP BY in Spark"),
    Case(
        "key of upserts",
        UPSERTS,
        "FROM bid WHERE",
        "FROM (SELECT item, UPPER(shop) AS shop, price FROM bid) WHERE",
        REFUSED,
        "GROUP BY",
    ),
    Case("aggregate of upserts", UPSERTS, "SUM(price)", "SUM(price + 1)", REFUSED, "Spark's own aggregate keeps"),
    Case(
        "table of upserts",
        UPSERTS,
        "FROM bid WHERE",
        "FROM (SELECT item, shop, price FROM bid UNION ALL SELECT item, shop, price FROM bid2) WHERE",
        WORD,
    ),
    Case(
        "having of upserts", UPSERTS, "BY item, shop", "BY item, shop HAVING COUNT(*) > 1", REFUSED, "number and order"
    ),
    Case("where of groups", GROUPS, "price > 3", "price > 4", WORD, "WHERE below GROUP BY"),
    Case("key of rows", FIRST, "PARTITION BY item", "PARTITION BY shop", REFUSED, "PARTITION BY"),
    Case("order of the keys of rows", FIRST_OF_TWO, "BY item, shop", "BY shop, item", FREE),
    Case("fewer keys of rows", FIRST_OF_TWO, "BY item, shop", "BY shop", REFUSED, "PARTITION BY"),
    Case(
        "ttl", FIRST, "SELECT item", "SET 'table.exec.state.ttl' = '1 d'; SELECT item", REFUSED, "table.exec.state.ttl"
    ),
    Case("limit of all rows", BEST_SO_FAR, "place <= 3", "place <= 2", REFUSED, "ROW_NUMBER from 1 to 3"),
    Case("order of all rows", BEST_SO_FAR, "price DESC", "price", REFUSED, "ORDER BY"),
    Case("rank of all rows", BEST_SO_FAR, "ROW_NUMBER()", "RANK()", REFUSED, "RANK from 1 to 3"),
    Case("keys of all rows", BEST_SO_FAR, "item, shop", "item", REFUSED, "PARTITION BY"),
    Case("order of the keys of all rows", BEST_SO_FAR, "BY item, shop", "BY shop, item", FREE),
    Case("where of all rows", BEST_SO_FAR, "price > 3", "price > 4", WORD, "WHERE below Top-N"),
    Case("rank left out", BEST_SO_FAR, "item, place FROM (", "item FROM (", FREE),
    Case("ttl of all rows", BEST_SO_FAR, "SELECT item,", "SET 'table.exec.state.ttl' = '1 d'; SELECT item,", FREE),
    Case("order of the keys of last rows", LAST, "BY item, shop", "BY shop, item", FREE),
    Case("first row", LAST, "ts DESC", "ts", REFUSED, "operators with state"),
    Case("final last rows", LAST, "n = 1", "n = 1 EMIT ON WINDOW CLOSE", REFUSED, "operators with state"),
    Case("bounds of a join", PAIRS, "'5' MINUTE", "'6' MINUTE", REFUSED, "BETWEEN"),
    Case("kind of a join", PAIRS, "bid JOIN", "bid LEFT JOIN", REFUSED, "JOIN"),
    Case(
        "order of the keys of a join",
        PAIRS.replace("bid.item = sale.item", "bid.item = sale.item AND bid.shop = sale.item"),
        "bid.item = sale.item AND bid.shop = sale.item",
        "bid.shop = sale.item AND bid.item = sale.item",
        REFUSED,
        "ON",
    ),
    Case("projection of a join", PAIRS, "bid.price FROM", "bid.price + 1 AS p FROM", FREE),
    Case("condition above a join", PAIRS, "AND sale.ts;", "AND sale.ts WHERE bid.price > 3;", WORD),
    Case("place of a history", HISTORY, "'path' = 'past'", "'path' = 'elsewhere'", FREE),
    Case("names over a history", HISTORY, "COUNT(*) AS n, MAX(item) AS most", "MAX(item) AS m, COUNT(*) AS c", FREE),
    Case(
        "history left out",
        HISTORY,
        "'tvfsql.history' = 'past', 'tvfsql.history.until' = '2020-04-15'",
        "'format' = 'json'",
        REFUSED,
        r"tvfsql.history of table live(.|\n)*\+ none",
    ),
    Case("end of a history", HISTORY, "'2020-04-15'", "'2020-04-16'", REFUSED, "until 2020-04-16"),
    Case("where without state", PLAIN, "price > 3", "price > 4", FREE),
    Case("state where none was", PLAIN, PLAIN, TOTALS, REFUSED, "operators with state"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_change_goes_on_needs_a_word_or_is_refused(case: Case) -> None:
    sql = TABLES + case.also + case.query
    assert case.old in sql
    own = case.also + case.query
    changed = sql.replace(case.old, case.new, 1) if case.old in TABLES else TABLES + own.replace(case.old, case.new, 1)
    before, after = stream(sql), stream(changed)
    found = changes(before.manifest, after.aligned(before.manifest).manifest)
    text = "\n".join(line for change in found for line in change.lines)
    assert verdict_of(found) is case.verdict, text
    if case.says:
        assert re.search(case.says, text), text
    if case.verdict is not REFUSED:
        resumed = after.over(before.manifest)
        aligned = after.aligned(before.manifest)
        known = (resolved(without_added(each.manifest)).operators for each in (before, resumed, aligned))
        operators = zip(*known, strict=True)
        for kept, now, new in operators:
            assert [(one.name, one.of) for one in now.keys] == [(one.name, one.of) for one in kept.keys]
            served = [one.name for one in kept.columns if any(one.serves(each) for each in new.columns)]
            names = [one.name for one in now.columns]
            assert names[: len(served)] == served and len(names) == len(new.columns)
            assert not {one.name for one in kept.columns}.intersection(names[len(served) :])
        next_run = following(before.manifest, resumed.manifest)
        assert changes(Manifest.load(next_run.dump()), after.aligned(next_run).manifest) == []
        assert after.over(next_run).code == resumed.code
        assert [part.name for part in resumed.queries[0].physical.schema] == [
            part.name for part in after.queries[0].physical.schema
        ]
        compile(resumed.code, "query", "exec")


def without_added(manifest: Manifest) -> Manifest:
    return manifest.known.manifest if manifest.known else manifest


def test_a_new_count_is_zero_in_slices_of_a_history_that_was_read_before() -> None:
    before, after = (stream(TABLES + each) for each in (HISTORY, HISTORY.replace("MAX(item)", "COUNT(item)")))
    code = after.over(before.manifest).code
    assert code.count('zeros=["most0"]') == 2


def test_a_deduplication_hashes_its_keys_in_the_order_of_the_state() -> None:
    before = stream(TABLES + FIRST_OF_TWO)
    after = stream(TABLES + FIRST_OF_TWO.replace("BY item, shop", "BY shop, item"))
    assert 'keys=["shop", "item"]' in after.code
    assert 'keys=["item", "shop"]' in after.over(before.manifest).code


def test_groups_of_one_operator_are_not_those_of_the_other() -> None:
    """The refusal says which rule made the new operator, if it did."""
    off = "SET 'tvfsql.rules.disabled' = 'aggregate_upserts_in_spark'"
    in_spark, ours = stream(TABLES + UPSERTS).manifest, stream(TABLES + f"{off};" + UPSERTS).manifest
    for before, after, hint in ((ours, in_spark, off), (in_spark, ours, "")):
        (change,) = changes(before, after)
        assert change.verdict is REFUSED and change.hint == hint
    assert (
        changes(in_spark, stream(TABLES + UPSERTS.replace("AS n", "AS m").replace("n, item", "m, item")).manifest) == []
    )


def test_names_between_windows_do_not_matter() -> None:
    before = stream(TABLES + CASCADE)
    after = stream(TABLES + CASCADE.replace("AS n", "AS m").replace("MAX(n)", "MAX(m)"))
    assert changes(before.manifest, after.manifest) == []
