SET 'table.local-time-zone' = 'America/New_York';
SELECT window_start, window_end, window_time, city, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE person, DESCRIPTOR(joined), INTERVAL '1' DAY))
GROUP BY window_start, window_end, window_time, city;
