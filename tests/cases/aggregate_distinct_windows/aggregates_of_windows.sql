-- The rows of an aggregate keep its windows.
-- expect: aggregate_distinct_windows
SELECT DISTINCT window_start, window_end, n FROM (
    SELECT window_start, window_end, item, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item
);
