SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT window_start, window_end, SUM(clicks) AS clicks
FROM TABLE(TUMBLE(
    (SELECT item, COUNT(*) AS clicks, window_time AS proctime
     FROM TABLE(TUMBLE(TABLE click, DESCRIPTOR(proc), INTERVAL '1' MINUTE))
     GROUP BY window_start, window_end, window_time, item),
    DESCRIPTOR(proctime), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
