SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(
    TUMBLE(TABLE bid,
           DESCRIPTOR(bidtime),
           INTERVAL '1' MINUTE)
) AS w WHERE w.prise > 3
GROUP BY window_start, window_end;
