-- A window function as the input of another.
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(
    TUMBLE(
        (
            SELECT window_time AS rowtime, item
            FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE)) /* the inner one */
            GROUP BY window_start, window_end, window_time, item
        ),
        DESCRIPTOR(rowtime),
        INTERVAL '1' HOUR
    )
)
GROUP BY window_start, window_end;
