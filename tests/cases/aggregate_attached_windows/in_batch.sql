-- expect-not: aggregate_attached_windows
-- In batch any GROUP BY ends.
SELECT window_start, window_end, MAX(bids) AS most
FROM (
    SELECT window_start, window_end, item, COUNT(*) AS bids
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
)
GROUP BY window_start, window_end;
