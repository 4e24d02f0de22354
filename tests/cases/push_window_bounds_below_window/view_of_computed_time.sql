-- expect: push_window_bounds_below_window
-- A view that renames a computed time, and filters rows: the bound is one on the column that the time is computed from.
CREATE TABLE measured (item STRING, price DECIMAL(10, 2), changed BIGINT, rt AS TO_TIMESTAMP_LTZ(changed, 3),
    WATERMARK FOR rt AS rt - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'data/measured', 'format' = 'parquet');
CREATE VIEW dear AS SELECT rt AS at, item AS thing, price AS cost FROM measured WHERE price > 3;

SELECT window_start, window_end, thing, SUM(cost) AS total
FROM TABLE(TUMBLE(TABLE dear, DESCRIPTOR(at), INTERVAL '1' HOUR))
WHERE window_start >= TIMESTAMP '2020-04-15 08:00:00'
GROUP BY window_start, window_end, thing;
