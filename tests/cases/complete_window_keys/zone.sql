-- Where the clock skips an hour, two windows may start at one instant.
-- expect-not: complete_window_keys
SET 'table.local-time-zone' = 'Europe/Berlin';
SELECT window_start, COUNT(*) AS n
FROM TABLE(HOP(TABLE person, DESCRIPTOR(joined), INTERVAL '30' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start;
