-- One operator makes the windows of both tables; a third one reads other rows.
SET 'execution.runtime-mode' = 'streaming';
EXPLAIN PHYSICAL STATEMENT SET BEGIN
    INSERT INTO nowhere SELECT item, COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
        GROUP BY window_start, window_end, item;
    INSERT INTO totals SELECT window_start, item, SUM(price)
        FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
        GROUP BY window_start, window_end, item HAVING COUNT(*) > 1;
    INSERT INTO screen SELECT item, COUNT(*)
        FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) WHERE price > 1
        GROUP BY window_start, window_end, item;
END;
-- Without common slices each is a stream of its own.
EXPLAIN PHYSICAL STATEMENT SET BEGIN
    INSERT INTO nowhere SELECT item, COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '7' MINUTE))
        GROUP BY window_start, window_end, item;
    INSERT INTO screen SELECT item, COUNT(*)
        FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
        GROUP BY window_start, window_end, item;
END;
