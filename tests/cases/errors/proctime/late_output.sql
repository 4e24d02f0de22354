SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late-output' = 'nowhere';
CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT item, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE click, DESCRIPTOR(proc), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, item;
