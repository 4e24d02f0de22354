-- same-plan-as: window/tumble_offset
SELECT window_start, window_end, item, COUNT(*) AS n
FROM TABLE(TUMBLE(DATA => TABLE bid, TIMECOL => DESCRIPTOR(bidtime), `OFFSET` => INTERVAL -'16' MINUTE, SIZE => INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
