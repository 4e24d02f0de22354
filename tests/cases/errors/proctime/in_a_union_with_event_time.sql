SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT window_end, COUNT(*) AS n
FROM TABLE(TUMBLE((SELECT name, joined FROM person UNION ALL SELECT item, proc FROM click), DESCRIPTOR(joined), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
