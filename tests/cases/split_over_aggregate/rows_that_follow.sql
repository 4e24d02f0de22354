-- expect: split_over_aggregate
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
SELECT item, price, LEAD(price, 1, 0) OVER w AS after, RANK() OVER w AS place,
    COUNT(*) OVER (w ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING) AS three,
    MAX(price) OVER (PARTITION BY item ORDER BY bidtime
        RANGE BETWEEN INTERVAL '5' MINUTE PRECEDING AND INTERVAL '1' HOUR FOLLOWING) AS most,
    COUNT(DISTINCT bidder) OVER (PARTITION BY item ORDER BY bidtime
        RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING AND INTERVAL '5' MINUTE PRECEDING) AS bidders
FROM bid
WINDOW w AS (PARTITION BY item ORDER BY bidtime);
