-- Spark reads EXPR$0 in backticks only, (SELECT -1) as SELECT minus 1, and GROUPING_ID of all keys alone.
CREATE TABLE readings (id INT, parts AS ARRAY[1, 2], WATERMARK FOR ts AS ts, ts TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'data/readings', 'format' = 'json');
SELECT EXPR$0, COUNT(*) OVER () AS n FROM (SELECT id + parts[2] FROM readings);
SELECT id FROM readings WHERE id = 1 OR id IN (SELECT -1);
SELECT id, GROUPING_ID(id) AS g, (SELECT MAX(id) FROM readings) AS k FROM readings GROUP BY CUBE (id, ts);
