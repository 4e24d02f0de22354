SET 'execution.runtime-mode' = 'streaming';
SELECT window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE (SELECT * FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) <= 3), DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
