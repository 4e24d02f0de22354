-- the best of each window: ranks below a UNION ALL
-- expect: aggregate_windows_of_readers_in_one_pass
-- expect-not: aggregate_windows_in_one_pass
SELECT window_name, window_end, item, total
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY window_name, window_start, window_end ORDER BY total DESC) AS place
    FROM (
        SELECT window_name, window_start, window_end, item, SUM(price) AS total
        FROM TABLE(WINDOWS(
            TABLE bid, DESCRIPTOR(bidtime),
            TUMBLE(INTERVAL '10' MINUTE) AS ten,
            CUMULATE(INTERVAL '10' MINUTE, INTERVAL '1' HOUR) AS hour
        ))
        GROUP BY window_name, window_start, window_end, item
    )
)
WHERE place = 1;
