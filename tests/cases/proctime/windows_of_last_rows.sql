-- expect: make_deduplicate
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 h';
CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT window_start, COUNT(*) AS items
FROM TABLE(TUMBLE(
    (SELECT item, proc FROM click QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY proc DESC) = 1),
    DESCRIPTOR(proc), INTERVAL '1' DAY))
GROUP BY window_start, window_end;
