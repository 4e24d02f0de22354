SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT window_start, window_end, user_id, FIRST_VALUE(item) AS item
FROM TABLE(SESSION(TABLE click PARTITION BY user_id, DESCRIPTOR(proc), INTERVAL '30' MINUTE))
GROUP BY window_start, window_end, user_id;
