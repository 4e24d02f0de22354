-- same-plan-as: window/tumble
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(SIZE => INTERVAL '10' MINUTES, TIMECOL => DESCRIPTOR(bidtime), DATA => TABLE bid))
GROUP BY window_start, window_end;
