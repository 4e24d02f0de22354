-- One item of a sliding window: the others need not be aggregated.
-- expect: push_filter_below_aggregate push_filter_below_window split_local_global
CREATE VIEW counted AS
SELECT window_start, window_end, item, COUNT(*) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
SELECT window_start, n FROM counted WHERE item = 'a' AND n > 1 AND window_start > TIMESTAMP '2020-04-15 08:00:00';
