-- expect: push_expand_below_window split_local_global
SELECT window_start, window_end, item, bidder, GROUPING_ID(item, bidder) AS lacking,
       COUNT(*) AS n, COUNT(DISTINCT item) AS items, MAX(bidder) AS last_bidder
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, CUBE (item, bidder);
