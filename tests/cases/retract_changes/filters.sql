-- expect: retract_changes

CREATE TABLE stock (op STRING, item STRING, price DECIMAL(10, 2), quantity INT, rating DOUBLE, changed TIMESTAMP(3),
    WATERMARK FOR changed AS changed - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'data/stock', 'format' = 'csv', 'changelog.op' = 'op');

SELECT window_start, window_end, item, COUNT(*) FILTER (WHERE price > 5) AS dear, SUM(quantity) FILTER (WHERE rating IS NULL) AS unrated
FROM TABLE(HOP(TABLE stock, DESCRIPTOR(changed), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)) WHERE quantity > 0
GROUP BY window_start, window_end, item HAVING COUNT(*) > 1;
