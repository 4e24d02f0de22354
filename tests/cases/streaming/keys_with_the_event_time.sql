SET 'execution.runtime-mode' = 'streaming';
-- expect: split_local_global
SELECT DISTINCT bidtime AS t, item, window_start, window_end
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '2' MINUTE, INTERVAL '10' MINUTE))
WHERE item <> 'x';
