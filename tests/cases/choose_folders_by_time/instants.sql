-- expect-not: choose_folders_by_time
-- The day of an instant depends on the time zone of the reader.
CREATE TABLE sale (item STRING, sold TIMESTAMP_LTZ(3), day AS DATE_FORMAT(sold, 'yyyy-MM-dd'), WATERMARK FOR sold AS sold)
PARTITIONED BY (day) WITH ('connector' = 'filesystem', 'path' = 'data/sale', 'format' = 'parquet');
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE sale, DESCRIPTOR(sold), INTERVAL '1' HOUR))
WHERE window_start >= TIMESTAMP '2024-12-31 00:00:00'
GROUP BY window_start, window_end;
