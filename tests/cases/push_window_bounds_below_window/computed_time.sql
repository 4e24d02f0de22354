-- expect: push_window_bounds_below_window
-- The scan is asked for milliseconds since 1970.
CREATE TABLE sale (item STRING, ms BIGINT, sold AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR sold AS sold)
WITH ('connector' = 'filesystem', 'path' = 'data/sale', 'format' = 'parquet');
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(HOP(TABLE sale, DESCRIPTOR(sold), INTERVAL '5' MINUTE, INTERVAL '1' HOUR))
WHERE window_end > TIMESTAMP '2024-12-31 00:00:00' AND window_end <= TIMESTAMP '2025-01-01 00:00:00'
GROUP BY window_start, window_end;
