-- expect: pull_up_window_table_function split_local_global
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT window_start, window_end, window_time, item, SUM(price) AS total, COUNT(*) AS clicks
FROM TABLE(TUMBLE(TABLE click, DESCRIPTOR(proc), INTERVAL '10' SECOND))
WHERE price > 1
GROUP BY window_start, window_end, window_time, item;
