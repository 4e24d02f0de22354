-- A column that is computed, a filter, arguments of aggregates and their results; Spark calls a function that is not
-- deterministic once.

CREATE FUNCTION initials AS 'user_functions.initials' LANGUAGE PYTHON;
CREATE FUNCTION doubled AS 'user_functions.Doubled' LANGUAGE PYTHON;
CREATE FUNCTION drawn AS 'user_functions.drawn' LANGUAGE PYTHON;

CREATE TABLE named (name STRING, n INT, short AS initials(name), ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'data/named.parquet', 'format' = 'parquet');

SELECT short, window_start, DOUBLED(SUM(doubled(n))) AS total, drawn(1, 6) AS dice
FROM TABLE(TUMBLE(TABLE named, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
WHERE initials(name, '.') <> 'A.B'
GROUP BY short, window_start, window_end;
