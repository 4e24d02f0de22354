SET 'execution.runtime-mode' = 'streaming';
SELECT a.item
FROM (SELECT item, MAX(bidtime) AS latest
      FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR))
      GROUP BY window_start, window_end, item) a
JOIN auction ON a.item = auction.item AND a.latest BETWEEN opened - INTERVAL '1' HOUR AND opened;
