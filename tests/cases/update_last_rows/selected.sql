-- expect: update_last_rows
SET 'execution.runtime-mode' = 'streaming';
SELECT item, bidder, price, bidtime FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY item, bidder ORDER BY bidtime DESC) = 1;
