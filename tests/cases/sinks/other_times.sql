-- Clocks and instants meet in the local zone, as in a CAST.
SET 'table.local-time-zone' = 'Asia/Tokyo';
CREATE TABLE opened (at TIMESTAMP_LTZ(3), day DATE, n BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'out/opened', 'format' = 'json');
INSERT INTO opened SELECT window_start, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end;
CREATE TABLE joined (name STRING, at TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'out/joined', 'format' = 'json');
INSERT INTO joined SELECT name, joined FROM person;
