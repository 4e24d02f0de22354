-- On streams the rows are held until their window ends (Unnest over a GlobalWindowAggregate).
EXPLAIN PHYSICAL SELECT item, price, window_start, window_end
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '15' MINUTE))
QUALIFY ROW_NUMBER() OVER (PARTITION BY item, window_start, window_end ORDER BY bidtime DESC) = 1;

SET 'execution.runtime-mode' = 'streaming';
EXPLAIN PHYSICAL SELECT item, price, window_start, window_end
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '15' MINUTE))
QUALIFY ROW_NUMBER() OVER (PARTITION BY item, window_start, window_end ORDER BY bidtime DESC) = 1;
