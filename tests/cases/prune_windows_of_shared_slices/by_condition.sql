-- The condition reads the number of bids, the INSERT their greatest price; nobody there reads the sum.
-- expect: prune_windows_of_shared_slices
CREATE VIEW bids_of AS SELECT window_start, window_end, item, COUNT(*) AS n, MAX(price) AS most
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item;
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO totals SELECT window_start, item, most FROM bids_of WHERE n > 1;
    INSERT INTO totals SELECT window_start, item, SUM(price)
        FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item;
END;
