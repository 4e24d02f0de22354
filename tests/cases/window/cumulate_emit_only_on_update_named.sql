-- same-plan-as: window/cumulate_emit_only_on_update
SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(CUMULATE(DATA => TABLE bid, TIMECOL => DESCRIPTOR(bidtime), EMITONLYONUPDATE => true, SIZE => INTERVAL '10' MINUTE, STEP => INTERVAL '2' MINUTE))
GROUP BY window_start, window_end, item;
