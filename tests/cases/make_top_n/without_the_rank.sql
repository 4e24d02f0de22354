-- expect: make_top_n
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
SELECT item, bidder, price
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC, bidtime) AS place FROM bid)
WHERE place <= 3;
