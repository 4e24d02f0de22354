SET 'execution.runtime-mode' = 'streaming';
-- expect: aggregate_attached_windows
SELECT window_start, window_end, COUNT(*) AS items, MAX(bids) AS most
FROM (
    SELECT window_start, window_end, item, COUNT(*) AS bids
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
)
WHERE bids > 1
GROUP BY window_start, window_end;
