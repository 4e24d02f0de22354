-- expect: make_window_top_n
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT * FROM (
    SELECT window_start, window_end, item, COUNT(*) AS clicks
    FROM TABLE(CUMULATE(TABLE click, DESCRIPTOR(proc), INTERVAL '1' MINUTE, INTERVAL '1' DAY))
    GROUP BY window_start, window_end, item)
QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY clicks DESC) <= 3;
