CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT item, proc, PROCTIME() AS now, LAG(price) OVER (ORDER BY user_id) AS before, EXTRACT(HOUR FROM PROCTIME()) AS hour FROM click;
SHOW CREATE TABLE click;
DESCRIBE click;
