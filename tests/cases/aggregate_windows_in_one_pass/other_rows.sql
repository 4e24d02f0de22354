-- expect-not: aggregate_windows_in_one_pass
SELECT 'minute' AS kind, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
WHERE item = 'a'
GROUP BY window_start, window_end
UNION ALL
SELECT 'hour', window_end, COUNT(*)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
