-- Results that nobody reads are not computed; with them goes what kept the windows from being made of slices.
-- expect: prune_columns split_local_global
SELECT item, n FROM (
    SELECT window_start, window_end, item, COUNT(*) AS n, SUM(price) AS total, MODE(quantity) AS usual
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
    GROUP BY window_start, window_end, item
) WHERE n > 1;
