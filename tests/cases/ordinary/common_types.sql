-- Spark would make DOUBLEs of the FLOATs, and count 20 digits of the BIGINTs.
CREATE TABLE t (b BOOLEAN, i INT, l BIGINT, f FLOAT, p DECIMAL(5, 2), ts TIMESTAMP(3), tsl TIMESTAMP_LTZ(3))
WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
SELECT COALESCE(i, f) AS a, CASE WHEN b THEN l ELSE p END AS c, ARRAY[l, p, NULL] AS d, MAP['x', i, 'y', f] AS e,
    GREATEST(p, f) AS g, IF(b, p, f) AS h, CASE WHEN b THEN ts ELSE tsl END AS j, COALESCE(ts, tsl) AS k,
    CASE i WHEN 1 THEN l ELSE 2 END AS m
FROM t;
SELECT b, ARRAY_AGG(DISTINCT i) FILTER (WHERE i IS NOT NULL AND i > 1) AS items FROM t GROUP BY b;
