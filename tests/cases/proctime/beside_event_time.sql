SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE click (item STRING, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '1' SECOND, proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json', 'scan.watermark.emit.strategy' = 'on-event');
SELECT window_end, item, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE click, DESCRIPTOR(proc), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, item;
