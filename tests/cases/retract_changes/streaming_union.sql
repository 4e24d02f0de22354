-- expect: retract_changes
SET 'execution.runtime-mode' = 'streaming';


CREATE TABLE stock (op STRING, item STRING, price DECIMAL(10, 2), quantity INT, rating DOUBLE, changed TIMESTAMP(3),
    WATERMARK FOR changed AS changed - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'data/stock', 'format' = 'csv', 'changelog.op' = 'op');

SELECT window_start, window_end, item, COUNT(*) AS n
FROM TABLE(TUMBLE((SELECT item, changed FROM stock UNION ALL SELECT item, bidtime FROM bid), DESCRIPTOR(changed), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, item;
