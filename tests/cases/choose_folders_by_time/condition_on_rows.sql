-- expect: choose_folders_by_time
CREATE TABLE sale (item STRING, sold TIMESTAMP(3), day AS CAST(sold AS DATE)) PARTITIONED BY (day)
WITH ('connector' = 'filesystem', 'path' = 'data/sale', 'format' = 'parquet');
SELECT item FROM sale WHERE sold BETWEEN TIMESTAMP '2024-12-31 06:00:00' AND TIMESTAMP '2025-01-01 06:00:00';
