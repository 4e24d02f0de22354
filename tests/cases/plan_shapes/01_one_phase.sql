-- Each row is copied into its windows; Flink's, where it may not split. On streams slices are never given up.
SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';
EXPLAIN PHYSICAL SELECT item, window_start, window_end, COUNT(*) AS n, SUM(price) AS total, MAX(price) FILTER (WHERE quantity > 1) AS most
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '15' MINUTE))
GROUP BY item, window_start, window_end;

EXPLAIN PHYSICAL SELECT item, window_start, window_end, COUNT(*) AS n, SUM(price) AS total, MAX(price) FILTER (WHERE quantity > 1) AS most
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '15' MINUTE))
GROUP BY item, window_start, window_end;

EXPLAIN PHYSICAL SELECT item, window_start, window_end, COUNT(*) AS n, SUM(price) AS total, MAX(price) FILTER (WHERE quantity > 1) AS most
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
GROUP BY item, window_start, window_end;
