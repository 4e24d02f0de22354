-- expect: push_window_bounds_below_window
-- On streams only the history of a table leaves out rows, and only those that are too early.
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE bid_history (item STRING, price DECIMAL(10, 2), changed BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'data/history', 'format' = 'parquet');
CREATE TABLE live_bid (item STRING, price DECIMAL(10, 2), changed BIGINT, rt AS TO_TIMESTAMP_LTZ(changed, 3),
    WATERMARK FOR rt AS rt - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'data/live', 'format' = 'csv', 'tvfsql.history' = 'bid_history');

SELECT window_start, window_end, SUM(price) AS total
FROM TABLE(HOP(TABLE live_bid, DESCRIPTOR(rt), INTERVAL '10' MINUTES, INTERVAL '1' HOUR))
WHERE window_end >= TIMESTAMP '2020-04-15 08:00:00' AND window_end < TIMESTAMP '2020-04-16 08:00:00'
GROUP BY window_start, window_end;
