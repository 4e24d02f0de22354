-- expect: push_filter_below_gap_fill
SELECT window_start, item, n, last FROM (
    SELECT window_start, window_end, item, COUNT(*) AS n, LOCF(MAX(price)) AS last
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, FILL => INTERVAL '1' HOUR))
    GROUP BY window_start, window_end, item
) WHERE item = 'lamp' AND n = 0;
