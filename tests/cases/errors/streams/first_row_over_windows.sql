SET 'execution.runtime-mode' = 'streaming';
SELECT item, price
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
QUALIFY ROW_NUMBER() OVER (PARTITION BY item, window_start ORDER BY bidtime) = 1;
