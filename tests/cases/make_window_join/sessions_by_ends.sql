-- expect: make_window_join
-- A session and the hour that it ends with: the end alone does not identify a session, but it says when both are final.
SELECT s.bidder, s.window_start, s.window_end, h.item
FROM (
    SELECT bidder, window_start, window_end
    FROM TABLE(SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
    GROUP BY bidder, window_start, window_end
) s
JOIN TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) h ON s.window_end = h.window_end;
