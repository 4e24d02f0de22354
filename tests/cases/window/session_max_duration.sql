-- expect: hold_rows_until_window_ends
SELECT item, window_start, window_end, COUNT(*) AS n
FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
GROUP BY item, window_start, window_end;
SELECT item, price, window_start, window_end
FROM TABLE(SESSION(
    DATA => TABLE bid PARTITION BY item, TIMECOL => DESCRIPTOR(bidtime),
    GAP => INTERVAL '10' MINUTE, MAX_DURATION => INTERVAL '1' HOUR));
