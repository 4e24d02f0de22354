-- expect: make_window_join pair_rows_when_window_ends split_local_global
-- Spark does not call them for the elements of a list, so rows are buffered in their windows
SET 'execution.runtime-mode' = 'streaming';
SELECT l.item, price, reserve
FROM (
    SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR))
    WHERE DATE_FORMAT(window_start, 'HH') = JSON_VALUE(item, '$.hour')
) l
LEFT JOIN TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR)) r
ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item AND price >= reserve;
