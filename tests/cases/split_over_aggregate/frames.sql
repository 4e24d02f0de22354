-- expect: split_over_aggregate
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
SELECT item, price, SUM(price) OVER w AS so_far, AVG(price) OVER (w ROWS 2 PRECEDING) AS mean,
    COUNT(DISTINCT bidder) OVER (PARTITION BY item ORDER BY bidtime RANGE INTERVAL '1' HOUR PRECEDING) AS bidders,
    LAG(price, 1, 0) OVER w AS before, MAX(price) OVER (ORDER BY bidtime ROWS 9 PRECEDING) AS of_ten
FROM bid WHERE price > 5
WINDOW w AS (PARTITION BY item ORDER BY bidtime);
