-- expect: push_filter_below_project
CREATE TABLE sale (item STRING, ms BIGINT, sold AS CAST(TO_TIMESTAMP_LTZ(ms, 3) AS TIMESTAMP(3)) - INTERVAL '8' HOUR)
WITH ('connector' = 'filesystem', 'path' = 'data/sale', 'format' = 'parquet');
SELECT item FROM sale WHERE sold = TIMESTAMP '2024-12-31 06:00:00';
