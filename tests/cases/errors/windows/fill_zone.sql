SET 'table.local-time-zone' = 'Europe/Berlin';
SELECT window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE person, DESCRIPTOR(joined), INTERVAL '1' MINUTE, FILL => INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
