-- same-plan-as: window/cumulate
SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(CUMULATE(DATA => TABLE bid, TIMECOL => DESCRIPTOR(bidtime), STEP => INTERVAL '2' MINUTE, SIZE => INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
