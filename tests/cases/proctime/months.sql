SET 'execution.runtime-mode' = 'streaming';
SET 'table.local-time-zone' = 'Europe/Paris';
CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT window_start, window_end, COUNT(*) AS clicks
FROM TABLE(TUMBLE(TABLE click, DESCRIPTOR(proc), INTERVAL '1' MONTH))
GROUP BY window_start, window_end;
