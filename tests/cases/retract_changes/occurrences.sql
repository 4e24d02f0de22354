-- expect: retract_changes split_local_global

CREATE TABLE stock (op STRING, item STRING, price DECIMAL(10, 2), quantity INT, rating DOUBLE, changed TIMESTAMP(3),
    WATERMARK FOR changed AS changed - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'data/stock', 'format' = 'csv', 'changelog.op' = 'op');

SELECT window_start, window_end, item, MIN(price) AS least, MAX(price) AS most, COUNT(DISTINCT price) AS prices, SUM(DISTINCT quantity) AS total, VAR_SAMP(rating) AS spread, LISTAGG(item) AS items, LAST_VALUE(rating) AS newest
FROM TABLE(HOP(TABLE stock, DESCRIPTOR(changed), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start, window_end, item;
