-- expect: make_top_n
-- expect-not: make_window_top_n
SET 'execution.runtime-mode' = 'streaming';
SELECT item, window_end, n FROM (
    SELECT item, window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
    GROUP BY window_start, window_end, item
) QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY n DESC) <= 2;
