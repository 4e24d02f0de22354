-- Each copy of a row is drawn by itself.
-- expect-not: push_filter_below_window
SELECT item FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
WHERE rand() > 0.5;
