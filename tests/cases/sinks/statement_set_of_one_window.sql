-- What both aggregate is read once, and kept with the aggregates of both.
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO totals SELECT window_start, item, SUM(reserve)
        FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, item;
    INSERT INTO screen SELECT item, COUNT(*)
        FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(opened), INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item HAVING COUNT(*) > 1;
END;
