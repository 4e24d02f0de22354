-- PARTITION BY is for the SESSION; offsets and the columns of the table stay.
SELECT window_name, window_start, window_end, item, COUNT(*) AS n, MAX(price) AS highest
FROM WINDOWS(
    TABLE bid PARTITION BY item, DESCRIPTOR(bidtime),
    TUMBLE(INTERVAL '1' HOUR, INTERVAL '30' MINUTE) AS `by hour`,
    HOP(INTERVAL '5' MINUTE, INTERVAL '10' MINUTE) AS ten,
    CUMULATE(STEP => INTERVAL '1' HOUR, SIZE => INTERVAL '1' DAY) day,
    SESSION(INTERVAL '5' MINUTE) AS visit
)
GROUP BY window_name, window_start, window_end, item;
