SET 'execution.runtime-mode' = 'streaming';
SELECT * FROM GAP_FILL(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, LOCF(price));
