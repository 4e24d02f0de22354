-- Spark makes each of them without Python.
-- expect-not: share_slices_of_several_windows
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO totals SELECT window_start, item, SUM(reserve)
        FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, item;
    INSERT INTO screen SELECT item, COUNT(*)
        FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, item;
END;
