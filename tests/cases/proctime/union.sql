SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT window_end, item, COUNT(*) AS n
FROM TABLE(TUMBLE(
    (SELECT item, proc FROM click WHERE price > 1 UNION ALL SELECT item, PROCTIME() FROM auction WHERE seller = 7),
    DESCRIPTOR(proc), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, item;
