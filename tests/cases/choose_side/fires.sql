-- The last hour beside the last day.
-- expect: choose_side make_window_join
WITH sums AS (
    SELECT window_name, window_end, item, SUM(price) AS total
    FROM TABLE(WINDOWS(
        TABLE bid, DESCRIPTOR(bidtime),
        TUMBLE(INTERVAL '1' MINUTE) AS minute,
        HOP(INTERVAL '1' MINUTE, INTERVAL '1' HOUR) AS hour,
        HOP(INTERVAL '1' HOUR, INTERVAL '1' DAY) AS day
    ))
    GROUP BY window_name, window_start, window_end, item
)
SELECT h.window_end, h.item, h.total AS of_hour, d.total AS of_day
FROM (SELECT * FROM sums WHERE window_name = 'hour') AS h
JOIN (SELECT * FROM sums WHERE window_name = 'day') AS d
ON h.window_end = d.window_end AND h.item = d.item;
