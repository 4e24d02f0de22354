SET 'table.local-time-zone' = 'Europe/Berlin';
SELECT window_start, window_end, window_time, COUNT(DISTINCT city) AS cities
FROM TABLE(HOP(TABLE person, DESCRIPTOR(joined), INTERVAL '1' HOUR, INTERVAL '1' DAY))
GROUP BY window_start, window_end, window_time;
