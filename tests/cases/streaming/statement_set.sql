-- One stream makes the windows of three tables; the best of a window need no state. What keeps more state, or just
-- reads the table, is a stream of its own, and so is what another clock would change when it is run again.
SET 'execution.runtime-mode' = 'streaming';
CREATE VIEW hot AS
SELECT window_start, window_end, item, COUNT(*) AS n, SUM(price) AS total
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
EXPLAIN PHYSICAL STATEMENT SET BEGIN
    INSERT INTO nowhere SELECT 'all', MAX(n) FROM hot GROUP BY window_start, window_end;
    INSERT INTO totals SELECT window_start, item, total FROM hot;
    INSERT INTO nowhere SELECT item, 1 FROM bid;
    INSERT INTO screen SELECT item, n FROM hot WHERE n > 1 UNION ALL SELECT 'all', n FROM hot;
    INSERT INTO nowhere SELECT item, n FROM hot WHERE window_end > LOCALTIMESTAMP - INTERVAL '1' DAY;
    INSERT INTO nowhere SELECT item, n FROM hot
        QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) = 1;
END;
EXPLAIN CODE STATEMENT SET BEGIN
    INSERT INTO totals SELECT window_start, item, total FROM hot;
    INSERT INTO screen SELECT item, n FROM hot
        QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) = 1;
END;
-- Late rows leave where the micro-batches are split.
CREATE TABLE late_bids (item STRING, bidtime TIMESTAMP(3), window_end TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
SET 'tvfsql.late-output' = 'late_bids';
EXPLAIN CODE STATEMENT SET BEGIN
    INSERT INTO totals SELECT window_start, item, total FROM hot;
    INSERT INTO screen SELECT item, n FROM hot WHERE n > 1;
END;
-- A rank that only the filters above it limit is none that could be shared, but what it ranks is.
RESET 'tvfsql.late-output';
CREATE VIEW ranked AS SELECT item, n, RANK() OVER (PARTITION BY window_start, window_end ORDER BY n) AS place FROM hot;
EXPLAIN PHYSICAL STATEMENT SET BEGIN
    INSERT INTO screen SELECT item, n FROM ranked WHERE place <= 2;
    INSERT INTO nowhere SELECT item, n FROM ranked WHERE place <= 3;
END;
