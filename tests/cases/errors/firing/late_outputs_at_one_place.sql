CREATE TABLE late_bids (item STRING) WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
CREATE TABLE late_sales LIKE late_bids;
CREATE TABLE sale (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'in/sale', 'format' = 'json', 'tvfsql.late-output' = 'late_sales');
SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late-output' = 'late_bids';
SELECT window_end, COUNT(*) FROM TABLE(TUMBLE((
    SELECT item, bidtime FROM bid UNION ALL SELECT item, ts FROM sale
), DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end;
