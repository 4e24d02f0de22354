SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE((SELECT item, bidtime AS t FROM bid UNION ALL SELECT item, opened FROM auction), DESCRIPTOR(t), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
