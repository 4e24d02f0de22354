-- Each INSERT makes its own window, from slices of ten minutes.
-- expect: drop_unread_windows
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO screen SELECT item, COUNT(*)
        FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item;
    INSERT INTO screen SELECT item, COUNT(*)
        FROM TABLE(HOP(TABLE auction, DESCRIPTOR(opened), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item;
END;
