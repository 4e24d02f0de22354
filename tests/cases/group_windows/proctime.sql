SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT TUMBLE_START(proc, INTERVAL '1' MINUTE) AS start, TUMBLE_PROCTIME(proc, INTERVAL '1' MINUTE) AS proctime, COUNT(*) AS n
FROM click GROUP BY TUMBLE(proc, INTERVAL '1' MINUTE);
