-- No state: on streams the watermark is of no use here, so none is assigned.
EXPLAIN PHYSICAL SELECT item, price, window_start, window_end, window_time
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '15' MINUTE));

SET 'execution.runtime-mode' = 'streaming';
EXPLAIN PHYSICAL SELECT item, price, window_start, window_end, window_time
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '15' MINUTE));
