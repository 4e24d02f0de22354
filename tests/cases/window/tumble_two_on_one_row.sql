-- Windows of two sizes over one table.
SELECT a.window_start, a.n, b.n AS n_of_hour
FROM (
    SELECT window_start, window_end, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
    GROUP BY window_start, window_end
) AS a
JOIN (
    SELECT window_start, window_end, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR))
    GROUP BY window_start, window_end
) AS b ON a.window_start >= b.window_start AND a.window_end <= b.window_end;
