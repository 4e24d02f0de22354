-- A window of a day has the list of all its rows.
-- expect: cut_into_time_ranges
SELECT window_start, window_end, LISTAGG(item) AS items
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '1' DAY))
GROUP BY window_start, window_end;
