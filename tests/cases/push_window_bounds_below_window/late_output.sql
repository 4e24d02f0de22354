-- expect-not: push_window_bounds_below_window
-- The late rows are those that are late by the watermark of the whole history.
SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late-output' = 'late';
CREATE TABLE bid_history (item STRING, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'data/history', 'format' = 'parquet');
CREATE TABLE live_bid (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'data/live', 'format' = 'csv', 'tvfsql.history' = 'bid_history');
CREATE TABLE late (item STRING, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'csv');
CREATE TABLE counts (window_end TIMESTAMP(3), n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out/counts', 'format' = 'csv');

INSERT INTO counts SELECT window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE live_bid, DESCRIPTOR(ts), INTERVAL '10' MINUTES))
WHERE window_end >= TIMESTAMP '2020-04-15 08:00:00' GROUP BY window_start, window_end;
