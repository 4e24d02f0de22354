"""Queries of streams whose checkpoints are compared, and the stream of a script. No JVM."""

from __future__ import annotations

from tvfsql.api.program import Program, streams_of
from tvfsql.api.script import Script, queries_of

TABLES = """
CREATE TABLE bid (item STRING, shop STRING, price BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json');
CREATE TABLE bid2 WITH ('path' = 'other') LIKE bid;
CREATE TABLE sale (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'sales', 'format' = 'json');
CREATE TABLE click (ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'clicks', 'format' = 'json');
CREATE TABLE late (item STRING) WITH ('connector' = 'filesystem', 'path' = 'late', 'format' = 'json');
CREATE TABLE page (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka', 'topic' = 'pages', 'properties.bootstrap.servers' = 'one:9092', 'format' = 'json');
"""
TOTALS = """CREATE TABLE out1 (a TIMESTAMP(3), b STRING, c STRING, d BIGINT, e BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');
INSERT INTO out1
SELECT window_start, item, shop, SUM(price) AS total, MAX(price) AS most
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))
WHERE price > 3
GROUP BY window_start, window_end, item, shop
HAVING SUM(price) > 10;
"""
FIRST = """SELECT item, ts FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts) AS n FROM bid WHERE price > 3
) WHERE n = 1;
"""
LAST = """SELECT item, ts FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY item, shop ORDER BY ts DESC) AS n FROM bid WHERE price > 3
) WHERE n = 1;
"""
BEST_SO_FAR = """SELECT item, place FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY item, shop ORDER BY price DESC) AS place FROM bid WHERE price > 3
) WHERE place <= 3;
"""
GROUPS = """SELECT item, COUNT(*) AS n FROM bid WHERE price > 3 GROUP BY item;
"""
UPSERTS = """CREATE TABLE kept (n BIGINT, i STRING, total BIGINT, s STRING, PRIMARY KEY (i, s) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/db', 'table-name' = 'kept');
INSERT INTO kept SELECT n, item, total, shop
FROM (SELECT item, shop, COUNT(*) AS n, SUM(price) AS total FROM bid WHERE price > 3 GROUP BY item, shop);
"""
TOP = """SELECT * FROM (
  SELECT window_start, window_end, item, SUM(price) AS total,
    ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY SUM(price) DESC) AS place
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, item
) WHERE place <= 3;
"""
BEST = """SELECT * FROM (
  SELECT window_start, window_end, item, price,
    RANK() OVER (PARTITION BY window_start, window_end, item ORDER BY price DESC) AS place
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
) WHERE place <= 3;
"""
INSTANTS = """SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE click, DESCRIPTOR(ts), INTERVAL '1' DAY))
GROUP BY window_start, window_end;
"""
PAIRS = """SELECT bid.item, bid.price FROM bid JOIN sale
ON bid.item = sale.item AND bid.ts BETWEEN sale.ts - INTERVAL '5' MINUTE AND sale.ts;
"""
PAGES = """SELECT window_start, k, COUNT(*) FROM TABLE(TUMBLE(TABLE page, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, k;
"""
SESSIONS = """SELECT window_start, item, COUNT(*)
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, item;
"""
HISTORY = """CREATE TABLE past (item STRING, ts TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'past', 'format' = 'json');
CREATE TABLE live WITH ('path' = 'live', 'tvfsql.history' = 'past', 'tvfsql.history.until' = '2020-04-15') LIKE sale;
SELECT window_start, item, COUNT(*) AS n, MAX(item) AS most
FROM TABLE(TUMBLE(TABLE live, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, item;
"""
CASCADE = """SELECT window_start, window_end, MAX(n) AS most FROM TABLE(TUMBLE((
  SELECT window_time AS at, item, SUM(price) AS n, COUNT(*) AS s
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  GROUP BY window_start, window_end, window_time, item
), DESCRIPTOR(at), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end;
"""
CHANGES = """CREATE TABLE change (item STRING, price BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka', 'topic' = 'changes', 'properties.bootstrap.servers' = 'one:9092',
  'format' = 'debezium-json');
SELECT window_start, item, COUNT(*) FROM TABLE(TUMBLE(TABLE change, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, item;
"""
PLAIN = "SELECT item FROM bid WHERE price > 3;"
FOUR = "SET 'pipeline.max-parallelism' = '4'; "
EARLY = "SET 'table.exec.emit.early-fire.enabled' = 'true'; SET 'table.exec.emit.early-fire.delay' = '1 s';"


def stream(sql: str) -> Program:
    """The stream of a script."""
    script = Script(mode="streaming")
    found = [program for outcome in script.outcomes(sql) for program in streams_of(queries_of(outcome))]
    (program,) = found
    return program
