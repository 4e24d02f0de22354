-- A view has columns that are called like those of the window over it, and the SELECT names its own so, too.
CREATE VIEW minutes AS
SELECT window_start, window_end, window_time AS rowtime, item, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, window_time, item;

SELECT TUMBLE_START(rowtime, INTERVAL '5' MINUTE) AS window_start, TUMBLE_END(rowtime, INTERVAL '5' MINUTE) AS window_end,
    MAX(window_end) AS last_minute, SUM(n) AS n
FROM minutes
GROUP BY TUMBLE(rowtime, INTERVAL '5' MINUTE);
