SET 'execution.runtime-mode' = 'streaming';
SELECT item, window_start, window_end
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE));
