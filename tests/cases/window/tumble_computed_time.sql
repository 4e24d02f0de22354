SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(closes), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
