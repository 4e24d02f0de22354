-- expect-not: retract_changes

CREATE TABLE stock (op STRING, item STRING, price DECIMAL(10, 2), quantity INT, rating DOUBLE, changed TIMESTAMP(3),
    WATERMARK FOR changed AS changed - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'data/stock', 'format' = 'csv', 'changelog.op' = 'op');

SELECT window_start, window_end, item, COUNT(*) AS n, HISTOGRAM_NUMERIC(price, 5) AS bins
FROM TABLE(TUMBLE(TABLE stock, DESCRIPTOR(changed), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
