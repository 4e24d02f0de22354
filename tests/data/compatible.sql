-- Queries of docs/compatibility.md that compile in both modes, each under the feature that it shows.

-- TABLE()
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- no TABLE()
SELECT window_start, window_end, COUNT(*) AS x FROM TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)
GROUP BY window_start, window_end;

-- alias
SELECT w.window_start, w.window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) AS w
GROUP BY w.window_start, w.window_end;

-- column alias list
SELECT s, e, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) AS w (item, bidder, price, quantity, rating, bidtime, s, e, t)
GROUP BY s, e;

-- named any order
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(SIZE => INTERVAL '10' MINUTE, TIMECOL => DESCRIPTOR(bidtime), DATA => TABLE bid))
GROUP BY window_start, window_end;

-- offset
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;

-- offset backtick
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(DATA => TABLE bid, TIMECOL => DESCRIPTOR(bidtime), SIZE => INTERVAL '10' MINUTE, `OFFSET` => INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;

-- offset bare
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(DATA => TABLE bid, TIMECOL => DESCRIPTOR(bidtime), SIZE => INTERVAL '10' MINUTE, OFFSET => INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;

-- negative offset
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '-8' MINUTE))
GROUP BY window_start, window_end;

-- offset bigger
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '16' MINUTE))
GROUP BY window_start, window_end;

-- subquery
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE (SELECT * FROM bid), DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- subquery no TABLE
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE((SELECT * FROM bid), DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- view
CREATE VIEW v AS SELECT * FROM bid;
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE v, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- cte
WITH v AS (SELECT * FROM bid) SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE v, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- hop nodiv
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '4' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- cumulate emit
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE, INTERVAL '0' MINUTE, TRUE))
GROUP BY window_start, window_end;

-- window_time is rowtime
SELECT window_time
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE));

-- computed time
CREATE TABLE cx (s STRING, ts AS TO_TIMESTAMP(s), WATERMARK FOR ts AS ts) WITH ('connector'='filesystem','path'='x','format'='json');
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE cx, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- ltz
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE person, DESCRIPTOR(joined), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- fractional
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '0.005' SECOND))
GROUP BY window_start, window_end;

-- compound
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1:30' MINUTE TO SECOND))
GROUP BY window_start, window_end;

-- plural
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
GROUP BY window_start, window_end;

-- month
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MONTH))
GROUP BY window_start, window_end;

-- week
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' WEEK))
GROUP BY window_start, window_end;

-- window_time
SELECT window_start, window_end, window_time, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, window_time;

-- literal key
SELECT window_start, window_end, 'a' AS l, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, 'a';

-- expr key
SELECT window_start, window_end, UPPER(item) AS l, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, UPPER(item);

-- grouping sets
SELECT window_start, window_end, item, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY GROUPING SETS ((window_start, window_end), (window_start, window_end, item));

-- cube
SELECT window_start, window_end, item, GROUPING(item) AS g, GROUPING_ID(item) AS gi, GROUP_ID() AS d, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, CUBE (item, bidder);

-- having
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end HAVING COUNT(*) > 1;

-- filter
SELECT window_start, window_end, SUM(price) FILTER (WHERE quantity > 1) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- distinct
SELECT window_start, window_end, COUNT(DISTINCT item) FILTER (WHERE quantity > 1) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- where window col
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) WHERE window_start > TIMESTAMP '2024-01-01 00:00:00'
GROUP BY window_start, window_end;

-- cascade
SELECT window_start, window_end, SUM(n) AS n
FROM TABLE(TUMBLE((SELECT window_time AS rowtime, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, window_time), DESCRIPTOR(rowtime), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;

-- relaxed
SELECT window_start, window_end, SUM(n) AS n FROM (SELECT window_start, window_end, item, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item)
GROUP BY window_start, window_end;

-- union all aggs
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end UNION ALL SELECT window_start, window_end, COUNT(*) AS x FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- alone
SELECT *
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE));

-- legacy
SELECT TUMBLE_START(bidtime, INTERVAL '10' MINUTE) AS s, TUMBLE_END(bidtime, INTERVAL '10' MINUTE) AS e, TUMBLE_ROWTIME(bidtime, INTERVAL '10' MINUTE) AS r, COUNT(*) AS n FROM bid
GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE);

-- legacy offset
SELECT COUNT(*) AS n FROM bid
GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE, INTERVAL '1' MINUTE);

-- legacy hop
SELECT HOP_START(bidtime, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE) AS s, COUNT(*) AS n FROM bid
GROUP BY HOP(bidtime, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE);

-- topn
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY x DESC) AS rn FROM (SELECT window_start, window_end, item, SUM(price) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item)) WHERE rn <= 3;

-- topn range
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY x DESC) AS rn FROM (SELECT window_start, window_end, item, SUM(price) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item)) WHERE rn > 1 AND rn <= 2;

-- rank
SELECT * FROM (SELECT *, DENSE_RANK() OVER (PARTITION BY window_start, window_end ORDER BY x DESC) AS rn FROM (SELECT window_start, window_end, item, SUM(price) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item)) WHERE rn <= 3;

-- topn on tvf
SELECT *
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) <= 3;

-- dedup
SELECT *
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end, item ORDER BY bidtime DESC) = 1;

-- dedup first <2
SELECT *
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end, item ORDER BY bidtime ASC) < 2;

-- listagg
SELECT window_start, window_end, LISTAGG(item, ', ') AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- collect
SELECT window_start, window_end, COLLECT(item) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- array_agg
SELECT window_start, window_end, ARRAY_AGG(item) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- approx
SELECT window_start, window_end, APPROX_COUNT_DISTINCT(item) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- stddev
SELECT window_start, window_end, STDDEV_POP(price) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- max distinct
SELECT window_start, window_end, MAX(DISTINCT price) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- first_value
SELECT window_start, window_end, FIRST_VALUE(price) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- avg distinct
SELECT window_start, window_end, AVG(DISTINCT price) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- idle
SET 'table.exec.source.idle-timeout'='1 s';
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- zone
SET 'table.local-time-zone'='Asia/Shanghai';
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- explain plan for
EXPLAIN PLAN FOR SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- watermark expr case
CREATE TABLE cx (n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS CASE WHEN n < 0 THEN ts END) WITH ('connector'='filesystem','path'='x','format'='json');
SELECT window_start, window_end, COUNT(*) AS x
FROM TABLE(TUMBLE(TABLE cx, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- set
EXECUTE STATEMENT SET BEGIN INSERT INTO screen SELECT item, COUNT(*)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
INSERT INTO nowhere SELECT item, COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
END;

-- join inner
SELECT l.item, l.window_start, l.window_end FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) l JOIN TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) r ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item;

-- join agg full
SELECT l.item, r.x FROM (SELECT window_start, window_end, item, COUNT(*) AS x FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))  GROUP BY window_start, window_end, item) l FULL JOIN (SELECT window_start, window_end, item, COUNT(*) AS x FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))  GROUP BY window_start, window_end, item) r ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item IS NOT DISTINCT FROM r.item;

-- join semi exists
SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) l WHERE EXISTS (SELECT 1 FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) r WHERE l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item);

-- join anti not in
SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) l WHERE l.item NOT IN (SELECT r.item FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) r WHERE l.window_start = r.window_start AND l.window_end = r.window_end);

-- window over union of tables
SELECT window_start, window_end, COUNT(*) AS n FROM TABLE(TUMBLE((SELECT item, bidtime FROM bid UNION ALL SELECT item, opened FROM auction), DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end;

-- where window col and row
SELECT window_start, window_end, COUNT(*) AS x FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) WHERE bidtime > window_start + INTERVAL '1' MINUTE GROUP BY window_start, window_end;

-- first row of each key
SELECT item, price FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY bidtime) = 1;

-- interval joins
SELECT b.item, a.id FROM bid b FULL JOIN auction a
ON b.item = a.item AND b.bidtime BETWEEN a.opened AND a.opened + INTERVAL '1' HOUR AND a.seller = 7;

-- processing time: windows, top n, first rows, joins
CREATE VIEW click AS SELECT item, price, PROCTIME() AS proc FROM bid;
SELECT * FROM (SELECT window_start, window_end, item, COUNT(*) AS n FROM TABLE(HOP(TABLE click, DESCRIPTOR(proc), INTERVAL '10' SECOND, INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, item)
QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) <= 3;
SELECT item, price FROM click QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY proc) = 1;
SELECT l.item FROM TABLE(TUMBLE(TABLE click, DESCRIPTOR(proc), INTERVAL '1' MINUTE)) l JOIN TABLE(TUMBLE(TABLE click, DESCRIPTOR(proc), INTERVAL '1' MINUTE)) r ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item;
SELECT TUMBLE_PROCTIME(proc, INTERVAL '1' MINUTE) AS t, COUNT(*) AS n FROM click GROUP BY TUMBLE(proc, INTERVAL '1' MINUTE);
