-- Queries that say the same with UNION ALL. A key may have the name of the column.
-- expect: aggregate_windows_in_one_pass
SELECT 'short' AS kind, item AS window_name, window_end, COUNT(bidder) AS bidders
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
GROUP BY item, window_start, window_end
UNION ALL
SELECT 'long', item, window_end, COUNT(bidder)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR))
GROUP BY item, window_start, window_end;
