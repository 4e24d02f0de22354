-- expect: split_local_global
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.early-fire.enabled' = 'true';
SET 'table.exec.emit.early-fire.delay' = '1 s';
CREATE TABLE click (item STRING, user_id BIGINT, proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT window_end, item, COUNT(*) AS clicks FROM TABLE(TUMBLE(TABLE click, DESCRIPTOR(proc), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, item;
