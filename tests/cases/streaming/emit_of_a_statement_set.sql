SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE counts (op STRING, item STRING, bids BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'out/counts', 'format' = 'json', 'changelog.op' = 'op');
CREATE TABLE finals (item STRING, bids BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out/finals', 'format' = 'json');
CREATE VIEW hot AS
SELECT item, COUNT(*) AS bids FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, item;
EXPLAIN CODE STATEMENT SET BEGIN
INSERT INTO counts SELECT item, bids FROM hot EMIT EVERY INTERVAL '10' SECOND WITH LATENESS INTERVAL '1' MINUTE;
INSERT INTO finals SELECT item, bids FROM hot EMIT ON WINDOW CLOSE;
END;
