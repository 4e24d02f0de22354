-- The condition reads the number of bids, the INSERT their greatest price; nobody there reads the sum.
-- expect: prune_windows_of_shared_slices
CREATE VIEW bids_of AS SELECT window_start, window_end, item, COUNT(*) AS n, MAX(reserve) AS most
FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item;
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO totals SELECT window_start, item, most FROM bids_of WHERE n > 1;
    INSERT INTO totals SELECT window_start, item, SUM(reserve)
        FROM TABLE(HOP(TABLE auction, DESCRIPTOR(opened), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item;
END;
