-- The user's own names do the same, also under other names on the right side.
-- expect: aggregate_each_side
SELECT kind, window_start, window_end, COUNT(*) AS n
FROM (
    SELECT 'bid' AS kind, window_start, window_end
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
    UNION ALL
    SELECT 'auction' AS what, window_start, window_end
    FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '10' MINUTE))
)
GROUP BY kind, window_start, window_end;
