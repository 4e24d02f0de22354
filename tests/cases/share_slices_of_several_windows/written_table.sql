-- The second INSERT must read what the first one has written.
-- expect-not: share_slices_of_several_windows
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO bid SELECT item, bidder + 1, price, quantity, rating, bidtime FROM bid WHERE price > 100;
    INSERT INTO totals SELECT window_start, item, SUM(price)
        FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, item;
    INSERT INTO screen SELECT item, COUNT(*)
        FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item;
END;
