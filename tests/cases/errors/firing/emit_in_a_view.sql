SET 'execution.runtime-mode' = 'streaming';
CREATE VIEW v AS SELECT window_start, item, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, item EMIT ON UPDATE;
