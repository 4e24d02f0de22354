SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.early-fire.enabled' = 'true';
CREATE TABLE counts (op STRING, item STRING, bids BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'out/counts', 'format' = 'json', 'changelog.op' = 'op');
CREATE TABLE shown (bids BIGINT) WITH ('connector' = 'print');
CREATE VIEW hot AS
SELECT item, COUNT(*) AS bids FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, item;
EXPLAIN CODE STATEMENT SET BEGIN
INSERT INTO counts SELECT item, bids FROM hot WHERE bids > 1;
INSERT INTO shown SELECT bids FROM hot;
END;
