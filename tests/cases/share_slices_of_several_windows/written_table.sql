-- The second INSERT must read what the first one has written.
-- expect-not: share_slices_of_several_windows
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO auction SELECT id + 1, item, seller, reserve, opened FROM auction WHERE reserve > 100;
    INSERT INTO totals SELECT window_start, item, SUM(reserve)
        FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, item;
    INSERT INTO screen SELECT item, COUNT(*)
        FROM TABLE(HOP(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item;
END;
