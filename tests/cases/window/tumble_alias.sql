-- same-plan-as: window/tumble
SELECT w.window_start, w.window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '0:10' HOUR TO MINUTE)) AS w
GROUP BY 1, 2;
