-- Both INSERTs fill one table, which knows a micro-batch by its number, so each of them is a stream of its own.
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE counts (item STRING, n BIGINT);
CREATE VIEW hot AS
SELECT item, COUNT(*) AS n, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item;
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO counts SELECT item, n FROM hot;
    INSERT INTO counts SELECT item, CAST(total AS BIGINT) FROM hot;
END;
