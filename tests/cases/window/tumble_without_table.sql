-- same-plan-as: window/tumble
SELECT window_start, window_end, COUNT(*) AS n
FROM TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '600' SECOND)
GROUP BY window_end, window_start;
