-- Slices, then windows. In batch a TUMBLE needs no slices: Spark's groupBy works in two phases by itself.
EXPLAIN PHYSICAL SELECT item, window_start, window_end, COUNT(*) AS n, SUM(price) AS total, MAX(price) FILTER (WHERE quantity > 1) AS most
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '15' MINUTE))
GROUP BY item, window_start, window_end;

SET 'execution.runtime-mode' = 'streaming';
EXPLAIN PHYSICAL SELECT item, window_start, window_end, COUNT(*) AS n, SUM(price) AS total, MAX(price) FILTER (WHERE quantity > 1) AS most
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '15' MINUTE))
GROUP BY item, window_start, window_end;

EXPLAIN PHYSICAL SELECT item, window_start, window_end, COUNT(*) AS n, SUM(price) AS total, MAX(price) FILTER (WHERE quantity > 1) AS most
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
GROUP BY item, window_start, window_end;

EXPLAIN PHYSICAL SELECT item, window_start, window_end, COUNT(*) AS n, SUM(price) AS total, MAX(price) FILTER (WHERE quantity > 1) AS most
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '15' MINUTE))
GROUP BY item, window_start, window_end;

SET 'execution.runtime-mode' = 'batch';
EXPLAIN PHYSICAL SELECT item, window_start, window_end, COUNT(*) AS n, SUM(price) AS total, MAX(price) FILTER (WHERE quantity > 1) AS most
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '15' MINUTE))
GROUP BY item, window_start, window_end;
