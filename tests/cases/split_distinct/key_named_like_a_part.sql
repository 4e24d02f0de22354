-- expect: split_distinct
-- AVG is merged from a sum and a count, which have other names than the key.
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
CREATE TABLE visits (visit_count INT, ms DOUBLE, person STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'data/visits', 'format' = 'json');

SELECT window_start, window_end, visit_count, AVG(ms) AS visit, COUNT(DISTINCT person) AS people
FROM TABLE(TUMBLE(TABLE visits, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, visit_count;
