-- One operator has the aggregates of both.
SET 'execution.runtime-mode' = 'streaming';
EXPLAIN PHYSICAL STATEMENT SET
BEGIN
    INSERT INTO totals SELECT window_start, item, SUM(price)
        FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item;
    INSERT INTO screen SELECT item, COUNT(*)
        FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item HAVING COUNT(*) > 1;
END;
