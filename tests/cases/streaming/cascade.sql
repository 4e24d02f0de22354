SET 'execution.runtime-mode' = 'streaming';
-- The second window function goes by the first one's watermark: a row passes both in the same micro-batch.
SELECT window_start, window_end, SUM(bids) AS bids, MAX(top) AS top
FROM TABLE(TUMBLE(
    TABLE (
        SELECT window_time AS rowtime, item, COUNT(*) AS bids, MAX(price) AS top
        FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE))
        GROUP BY window_start, window_end, window_time, item
    ),
    DESCRIPTOR(rowtime), INTERVAL '10' MINUTE))
WHERE bids > 1
GROUP BY window_start, window_end;
