SET 'execution.runtime-mode' = 'streaming';
SELECT item, SUM(price) OVER (PARTITION BY item ORDER BY bidtime RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL '1' HOUR FOLLOWING) AS s FROM bid;
