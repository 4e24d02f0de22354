CREATE TABLE bid (item STRING, bidtime TIMESTAMP(3), WATERMARK FOR bidtime AS bidtime - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'bids', 'format' = 'json');
SELECT window_start, item, COUNT(*) AS n FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
GROUP BY item, window_start, window_end ORDER BY window_start;
