-- What both read is computed once; one filters it, which stays above.
CREATE VIEW hot AS
SELECT window_start, window_end, item, COUNT(*) AS n, SUM(price) AS total
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO totals SELECT window_start, item, total FROM hot;
    INSERT INTO screen SELECT item, n FROM hot WHERE n > 1;
END;
