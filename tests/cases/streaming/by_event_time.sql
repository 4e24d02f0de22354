SET 'execution.runtime-mode' = 'streaming';
-- expect: split_local_global
-- What depends on the order of rows goes by their times, which the partials carry.
SELECT window_end, FIRST_VALUE(price) AS opening, LISTAGG(item) FILTER (WHERE quantity > 1) AS items,
    ARRAY_AGG(quantity) AS quantities, SUM(DISTINCT rating) AS ratings
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
