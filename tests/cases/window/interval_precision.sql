-- Flink wants the digits of numbers above 99 to be told.
SELECT window_start, COUNT(*) AS n, MAX(bidtime + INTERVAL '1 02:03:04.5' DAY(3) TO SECOND(3)) AS latest
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '100' MINUTE(3), INTERVAL '0 05:00:00' DAY(3) TO SECOND(3)))
WHERE bidtime > TIMESTAMP '2020-04-15 08:00:00' - INTERVAL '0.111' SECOND(1, 3)
GROUP BY window_start, window_end;
