-- The slices of one query have only what it reads.
-- expect-not: prune_windows_of_shared_slices
SELECT window_end, item, n FROM (
    SELECT window_start, window_end, item, COUNT(*) AS n, SUM(price) AS total
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
);
