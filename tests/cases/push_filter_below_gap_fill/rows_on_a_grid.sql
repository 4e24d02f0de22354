-- expect: push_filter_below_gap_fill
SELECT bidtime, price
FROM GAP_FILL(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE)
WHERE item = 'lamp' AND price > 10;
