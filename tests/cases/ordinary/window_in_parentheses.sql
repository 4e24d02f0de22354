-- same-plan-as: window/tumble
SELECT window_start, window_end, COUNT(*) AS n
FROM (TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
