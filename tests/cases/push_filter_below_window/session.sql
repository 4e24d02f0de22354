-- expect: push_filter_below_window
-- Bids of items that are left out make no sessions; a cheap bid is part of its session all the same.
SELECT item, price, window_start, window_end
FROM TABLE(SESSION(TABLE bid PARTITION BY (item, bidder), DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
WHERE item <> 'x' AND price > 10;
