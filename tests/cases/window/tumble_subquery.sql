-- same-plan-as: window/tumble
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE((SELECT item, bidtime FROM bid), DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
