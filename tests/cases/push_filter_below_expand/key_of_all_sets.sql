-- expect: push_filter_below_expand push_filter_below_aggregate
SELECT * FROM (
    SELECT window_start, window_end, bidder, item, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
    GROUP BY window_start, window_end, bidder, ROLLUP (item)
) WHERE bidder > 7 AND n > 1;
