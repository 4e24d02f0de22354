-- A NULL stops the query. Windows are never NULL.
CREATE TABLE prices (window_end TIMESTAMP(3) NOT NULL, item STRING, `it's` DECIMAL(10, 2) NOT NULL)
WITH ('connector' = 'filesystem', 'path' = 'out/prices', 'format' = 'json');
INSERT INTO prices SELECT window_end, item, MAX(price)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item;
