-- expect: split_distinct aggregate_attached_windows split_local_global
SET 'execution.runtime-mode' = 'streaming';
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT window_start, window_end, COUNT(DISTINCT user_id) AS users, MAX(price) AS most
FROM TABLE(HOP(TABLE click, DESCRIPTOR(proc), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
