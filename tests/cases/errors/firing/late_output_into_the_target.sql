-- the second write of a micro-batch into a table that numbers them would pass for a repetition of the first
CREATE TABLE prices (item STRING, price DECIMAL(10, 2))
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/shop', 'table-name' = 'prices');
CREATE TABLE late_prices LIKE prices;
SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late-output' = 'late_prices';
INSERT INTO prices
SELECT item, MAX(price) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
