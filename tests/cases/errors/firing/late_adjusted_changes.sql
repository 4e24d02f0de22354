SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late' = 'adjust';
CREATE TABLE stock (op STRING, item STRING, changed TIMESTAMP(3), WATERMARK FOR changed AS changed)
WITH ('connector' = 'filesystem', 'path' = 'data/stock', 'format' = 'csv', 'changelog.op' = 'op');
SELECT item, COUNT(*) FROM TABLE(TUMBLE(TABLE stock, DESCRIPTOR(changed), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, item;
