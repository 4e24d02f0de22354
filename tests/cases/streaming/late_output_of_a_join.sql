-- a table of late rows for both sides, and one for a single source; rows of the lower windows pass the upper ones
CREATE TABLE late_rows (table_name STRING, item STRING, window_end TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
CREATE TABLE late_sales (price DOUBLE) WITH ('connector' = 'filesystem', 'path' = 'out/late-sales', 'format' = 'json');
CREATE TABLE sale (item STRING, price DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'in/sale', 'format' = 'json', 'tvfsql.late-output' = 'late_sales');
SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late-output' = 'late_rows';
SELECT b.item, b.window_end, b.bids, s.sales
FROM (
    SELECT item, window_start, window_end, COUNT(*) AS bids
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY item, window_start, window_end
) b
JOIN (
    SELECT item, window_start, window_end, COUNT(*) AS sales
    FROM TABLE(TUMBLE(TABLE sale, DESCRIPTOR(ts), INTERVAL '10' MINUTE)) GROUP BY item, window_start, window_end
) s ON b.item = s.item AND b.window_start = s.window_start AND b.window_end = s.window_end;
