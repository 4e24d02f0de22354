-- Counts are joined with their own MAX: they are computed once.
-- expect: rank_instead_of_self_join
SET 'execution.runtime-mode' = 'streaming';
CREATE VIEW counts AS
SELECT window_start, window_end, item, COUNT(*) AS bids
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
SELECT c.window_start, c.window_end, c.item, c.bids
FROM counts c
JOIN (SELECT window_start, window_end, MAX(bids) AS most FROM counts GROUP BY window_start, window_end) m
ON c.window_start = m.window_start AND c.window_end = m.window_end AND c.bids = m.most;
