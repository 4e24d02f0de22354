-- sides that differ in columns and conditions, with other aggregates, without names
-- expect: aggregate_windows_in_one_pass
SET 'execution.runtime-mode' = 'streaming';
SELECT item, window_end, COUNT(bidder) AS n
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
GROUP BY item, window_start, window_end
UNION ALL
SELECT UPPER(item), window_start, COUNT(bidder) + 1
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
GROUP BY item, window_start, window_end
HAVING MAX(bidder) > 7;
