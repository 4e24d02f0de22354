SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT l.item FROM TABLE(TUMBLE(TABLE click, DESCRIPTOR(proc), INTERVAL '1' MINUTE)) l
JOIN TABLE(TUMBLE(TABLE person, DESCRIPTOR(joined), INTERVAL '1' MINUTE)) r
ON l.item = r.name AND l.window_start = r.window_start AND l.window_end = r.window_end;
