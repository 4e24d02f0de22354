-- The end identifies a window of TUMBLE.
-- expect: aggregate_distinct_windows
-- expect: complete_window_keys
SELECT DISTINCT window_end, item FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE));
