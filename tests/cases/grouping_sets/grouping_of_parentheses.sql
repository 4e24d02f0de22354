SELECT window_start, item, (price + 1) AS e, GROUPING_ID(item, (price + 1)) AS g
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, CUBE (item, (price + 1));
