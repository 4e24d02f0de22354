-- With one window its rows would be kept, and a row is in twelve windows.
-- expect-not: share_slices_of_several_windows
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO totals SELECT window_start, item, SUM(reserve)
        FROM TABLE(HOP(TABLE auction, DESCRIPTOR(opened), INTERVAL '5' MINUTE, INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item;
    INSERT INTO screen SELECT item, COUNT(*)
        FROM TABLE(HOP(TABLE auction, DESCRIPTOR(opened), INTERVAL '5' MINUTE, INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item;
END;
