-- Names that are words of Python, or of the module that is made.
CREATE TABLE spark (`class` INT, `F` INT, query INT, `rows` INT, `slice` INT, slice_end INT, t TIMESTAMP(3))
WITH ('connector' = 'parquet', 'path' = 'x');
SELECT window_start, `class`, `F`, SUM(query) AS query, COUNT(`rows`) AS `rows`, MAX(`slice`) AS `slice`, MIN(slice_end) AS `window`
FROM TABLE(HOP(TABLE spark, DESCRIPTOR(t), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, `class`, `F`;
