-- expect: make_deduplicate
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
SELECT item, bidder, price, bidtime
FROM bid
QUALIFY ROW_NUMBER() OVER (PARTITION BY item, bidder ORDER BY bidtime DESC) = 1;
