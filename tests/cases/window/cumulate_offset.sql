SELECT window_start, window_end, COUNT(DISTINCT bidder) AS bidders
FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR, INTERVAL '1' DAY, INTERVAL '8' HOUR))
GROUP BY window_start, window_end;
