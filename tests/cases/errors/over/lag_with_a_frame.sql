SET 'execution.runtime-mode' = 'streaming';
SELECT item, LAG(price) OVER (PARTITION BY item ORDER BY bidtime ROWS 2 PRECEDING) AS s FROM bid;
