SET 'execution.runtime-mode' = 'streaming';
SELECT window_end, COUNT(*) FROM TABLE(TUMBLE((
    SELECT * FROM TO_CHANGELOG((SELECT item, MAX(bidtime) AS ts FROM bid GROUP BY item))), DESCRIPTOR(ts), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
