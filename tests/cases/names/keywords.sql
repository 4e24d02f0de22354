-- Words of the window grammar as names.
CREATE TABLE data (size INT, slide INT, `table` INT, timecol TIMESTAMP(3), step STRING)
WITH ('connector' = 'parquet', 'path' = 'x');
SELECT window_start, step, SUM(size) AS size, MAX(slide) AS slide
FROM TABLE(HOP(DATA => TABLE data, TIMECOL => DESCRIPTOR(timecol), SIZE => INTERVAL '10' MINUTE, SLIDE => INTERVAL '5' MINUTE))
GROUP BY window_start, window_end, step;
