SELECT window_start AS starts, MAX(total) AS most
FROM TABLE(TUMBLE((
    SELECT window_time AS rowtime, SUM(b.price) AS total
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE)) AS b
    GROUP BY b.item, window_start, window_end, window_time
), DESCRIPTOR(rowtime), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
