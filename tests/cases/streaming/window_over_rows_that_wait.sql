SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 h';
CREATE VIEW ahead AS
SELECT bidtime, price, LEAD(price) OVER (PARTITION BY item ORDER BY bidtime) AS following,
    SUM(price) OVER (ORDER BY bidtime ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING) AS three
FROM bid;
SELECT window_start, SUM(following) AS s, MAX(three) AS t
FROM TABLE(TUMBLE(TABLE ahead, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
