-- All windows of a day start together.
-- expect-not: aggregate_distinct_windows
SELECT DISTINCT window_start, item
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' DAY));
