-- The columns of VALUES have types: a window finds its time, and TRY_CAST of text reads the exponent as Flink does.
CREATE VIEW v AS SELECT * FROM (
  VALUES (TIMESTAMP '2020-04-15 08:05:00', '4e0'), (TIMESTAMP '2020-04-15 08:07:00', NULL)
) AS t(ts, price);
SELECT window_start, SUM(TRY_CAST(price AS DECIMAL(10, 2))) AS total
FROM TABLE(TUMBLE(TABLE v, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
