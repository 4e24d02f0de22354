CREATE TABLE größe (straße STRING, 时间 TIMESTAMP(3)) WITH ('connector' = 'parquet', 'path' = 'ö/x');
SELECT window_start, straße, COUNT(*) AS `n°` FROM TABLE(TUMBLE(TABLE größe, DESCRIPTOR(时间), INTERVAL '1' DAY))
GROUP BY window_start, window_end, straße;
