-- Both read the rows of one window, which are kept with the aggregates of both.
-- expect-not: share_slices_of_several_windows
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO totals SELECT window_start, item, SUM(price)
        FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item;
    INSERT INTO screen SELECT item, COUNT(*)
        FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item;
END;
