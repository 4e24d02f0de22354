-- expect-not: split_local_global
CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT window_start, window_end, window_time, item, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE click, DESCRIPTOR(proc), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, window_time, item;
