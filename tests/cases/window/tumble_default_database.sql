-- same-plan-as: window/tumble
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE default_catalog.default_database.bid, DESCRIPTOR(BIDTIME), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
