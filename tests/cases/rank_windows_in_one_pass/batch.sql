-- expect-not: rank_windows_in_one_pass
SELECT window_name, window_end, item, total
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY window_name, window_start, window_end ORDER BY total DESC) AS place
    FROM (
        SELECT window_name, window_start, window_end, item, SUM(price) AS total
        FROM TABLE(WINDOWS(
            TABLE bid, DESCRIPTOR(bidtime),
            TUMBLE(INTERVAL '10' MINUTE) AS ten,
            TUMBLE(INTERVAL '1' HOUR) AS hour,
            CUMULATE(INTERVAL '10' MINUTE, INTERVAL '1' DAY) AS day
        ))
        GROUP BY window_name, window_start, window_end, item
    )
)
WHERE place <= 3;
