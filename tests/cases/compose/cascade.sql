-- Windows over windows, by window_time.
CREATE VIEW minutes AS
SELECT window_time AS rowtime, item, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, window_time, item;

SELECT window_start, window_end, item, SUM(total) AS total
FROM TABLE(HOP(TABLE minutes, DESCRIPTOR(rowtime), INTERVAL '5' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start, window_end, item;
