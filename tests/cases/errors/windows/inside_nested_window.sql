SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(
    TUMBLE(
        (
            SELECT item, window_time AS rowtime   -- a comment with 'a quote
            FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
            WHERE prise > 3
        ),
        DESCRIPTOR(rowtime),
        INTERVAL '1' HOUR
    )
)
GROUP BY window_start, window_end;
