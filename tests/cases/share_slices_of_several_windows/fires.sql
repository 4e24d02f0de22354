-- One scan, and slices of a minute for all windows, also of two INSERTs that read the same one with other aggregates.
-- expect: share_slices_of_several_windows drop_unread_windows prune_windows_of_shared_slices
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO totals SELECT window_start, item, SUM(reserve)
        FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, item;
    INSERT INTO screen SELECT item, COUNT(*)
        FROM TABLE(HOP(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item HAVING COUNT(*) > 1;
    INSERT INTO nowhere SELECT item, MAX(id)
        FROM TABLE(HOP(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item;
    INSERT INTO nowhere SELECT item, COUNT(*)
        FROM TABLE(CUMULATE(TABLE auction, DESCRIPTOR(opened), INTERVAL '5' MINUTE, INTERVAL '1' DAY))
        GROUP BY window_start, window_end, item;
END;
