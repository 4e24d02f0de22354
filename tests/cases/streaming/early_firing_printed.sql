CREATE TABLE shown (item STRING, bids BIGINT) WITH ('connector' = 'print');
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.early-fire.enabled' = 'true';
INSERT INTO shown
SELECT item, COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item
UNION ALL
SELECT item, 1 FROM bid;
