SET 'table.local-time-zone' = 'America/New_York';
SELECT window_start, window_end, window_time, city, COUNT(*) AS n
FROM TABLE(SESSION(TABLE person PARTITION BY city, DESCRIPTOR(joined), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, window_time, city;
SELECT id, window_start, window_end FROM TABLE(SESSION(TABLE person, DESCRIPTOR(joined), INTERVAL '1' HOUR));
