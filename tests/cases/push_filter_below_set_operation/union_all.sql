-- expect: push_filter_below_set_operation push_filter_below_aggregate prune_columns
SELECT item, n FROM (
    SELECT window_start, item, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item
    UNION ALL
    SELECT opened, item, seller FROM auction
) WHERE item = 'a' AND n > 1;
