SELECT * FROM GAP_FILL(bid, bidtime, INTERVAL '1' MINUTE, LOCF(price * 2), PARTITION_BY(item));
