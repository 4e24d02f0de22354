-- same-plan-as: pull_up_window_table_function/session
SELECT item, window_start, window_end, SUM(price) AS total, COUNT(DISTINCT bidder) AS bidders, COUNT(*) AS n
FROM SESSION(DATA => TABLE bid PARTITION BY item ORDER BY bidtime, GAP => INTERVAL '10' MINUTE, TIMECOL => DESCRIPTOR(bidtime))
WHERE item <> 'x'
GROUP BY item, window_start, window_end;
