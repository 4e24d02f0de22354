CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT TUMBLE_ROWTIME(proc, INTERVAL '1' MINUTE) AS t, COUNT(*) AS n FROM click GROUP BY TUMBLE(proc, INTERVAL '1' MINUTE);
