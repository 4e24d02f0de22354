-- expect: choose_folders_by_time
-- The day of 1 January is not read: the last moment before midnight is in the folder of 31 December.
CREATE TABLE sale (item STRING, sold TIMESTAMP(3), day AS DATE_FORMAT(sold, 'yyyy-MM-dd'), WATERMARK FOR sold AS sold)
PARTITIONED BY (day) WITH ('connector' = 'filesystem', 'path' = 'data/sale', 'format' = 'parquet');
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE sale, DESCRIPTOR(sold), INTERVAL '1' HOUR))
WHERE window_start >= TIMESTAMP '2024-12-31 00:00:00' AND window_end <= TIMESTAMP '2025-01-01 00:00:00'
GROUP BY window_start, window_end;
