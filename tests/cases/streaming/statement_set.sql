-- One stream makes the windows of several tables: of rows of a window, which come together, aggregates, joins and ranks
-- need no state. A window over windows is a stream of its own, and so is what just reads the table, and what another
-- clock would change when it is run again.
SET 'execution.runtime-mode' = 'streaming';
CREATE VIEW hot AS
SELECT window_start, window_end, window_time, item, COUNT(*) AS n, SUM(price) AS total
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, window_time, item;
EXPLAIN PHYSICAL STATEMENT SET BEGIN
    INSERT INTO nowhere SELECT 'all', SUM(n) FROM TABLE(TUMBLE((SELECT window_time AS rowtime, n FROM hot), DESCRIPTOR(rowtime), INTERVAL '1' HOUR))
        GROUP BY window_start, window_end;
    INSERT INTO totals SELECT window_start, item, total FROM hot;
    INSERT INTO nowhere SELECT item, 1 FROM bid;
    INSERT INTO screen SELECT item, n FROM hot WHERE n > 1 UNION ALL SELECT 'all', n FROM hot;
    INSERT INTO nowhere SELECT item, n FROM hot WHERE window_end > LOCALTIMESTAMP - INTERVAL '1' DAY;
    INSERT INTO nowhere SELECT item, n FROM hot
        QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) = 1;
    INSERT INTO nowhere SELECT h.item, h.n FROM hot AS h
        JOIN (SELECT window_start, window_end, MAX(n) AS most FROM hot GROUP BY window_start, window_end) AS m
        ON h.window_start = m.window_start AND h.window_end = m.window_end AND h.n = m.most;
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
