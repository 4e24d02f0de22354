SELECT item, window_start, window_end, window_time
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '4' MINUTE, INTERVAL '10' MINUTE));
