-- expect: aggregate_attached_windows hold_rows_until_window_ends
-- Sessions of items, counted per bidder; a rank of the counts; and windows of the ranks.
SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, window_end, bidder, n FROM (
    SELECT bidder, window_start, window_end, COUNT(*) AS n
    FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
    WHERE price > 10
    GROUP BY bidder, window_start, window_end
) QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) <= 3;
