-- both INSERTs share one stream, and its late rows
CREATE TABLE prices (item STRING, price DECIMAL(10, 2)) WITH ('connector' = 'spark-catalog', 'format' = 'delta');
SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late-output' = 'prices';
EXECUTE STATEMENT SET BEGIN
    INSERT INTO totals
    SELECT window_start, item, MAX(price) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
    GROUP BY window_start, window_end, item;
    INSERT INTO prices
    SELECT item, MAX(price) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
    GROUP BY window_start, window_end, item;
END;
