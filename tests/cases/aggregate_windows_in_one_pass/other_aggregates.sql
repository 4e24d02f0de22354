-- each side reads other columns of the same rows
-- expect: aggregate_windows_in_one_pass
SELECT 'number' AS what, window_end, CAST(COUNT(*) AS DECIMAL(38, 2)) AS figure
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE)) WHERE quantity > 1
GROUP BY window_start, window_end
UNION ALL
SELECT 'total', window_end, SUM(price)
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)) WHERE quantity > 1
GROUP BY window_start, window_end;
