SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late' = 'adjust';
SELECT * FROM GAP_FILL(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, MAX_GAP => INTERVAL '1' HOUR);
