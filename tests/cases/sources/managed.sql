-- Tables without a connector: Parquet in the warehouse.
CREATE TABLE clicks (id INT, url STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
INSERT INTO clicks VALUES (1, 'a', TIMESTAMP '2024-01-01 00:00:00');
SET 'tvfsql.warehouse' = 'rows';
CREATE TABLE per_minute AS
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
ALTER TABLE per_minute RENAME TO a_minute;
SELECT n FROM a_minute;
SET 'execution.runtime-mode' = 'streaming';
INSERT INTO clicks VALUES (2, 'b', TIMESTAMP '2024-01-01 00:00:01');
INSERT INTO a_minute SELECT ts, id FROM clicks;
