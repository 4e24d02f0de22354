SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE stock (op STRING, item STRING, changed TIMESTAMP(3), WATERMARK FOR changed AS changed)
WITH ('connector' = 'filesystem', 'path' = 'data/stock', 'format' = 'csv', 'changelog.op' = 'op');

SELECT s.item, s.window_end
FROM (SELECT * FROM TABLE(TUMBLE(TABLE stock, DESCRIPTOR(changed), INTERVAL '10' MINUTE))) AS s
JOIN (SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))) AS b
ON s.item = b.item AND s.window_start = b.window_start AND s.window_end = b.window_end;
