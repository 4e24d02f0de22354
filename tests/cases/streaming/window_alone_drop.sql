SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.source.rowtime-null-handling' = 'DROP';
-- Two window functions of one query: each observes the rows without a time under a name of its own.
SELECT item, window_start, window_end, window_time
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '4' MINUTE, INTERVAL '10' MINUTE))
UNION ALL
SELECT item, window_start, window_end, window_time
FROM TABLE(CUMULATE(TABLE auction, DESCRIPTOR(opened), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE));
