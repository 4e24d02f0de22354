-- What cannot be read is NULL; a text that is not a JSON object is skipped, as in Flink.
CREATE TABLE docs (item STRING, price BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'data/docs', 'format' = 'json', 'json.ignore-parse-errors' = 'true');
CREATE TABLE lines (item STRING, price BIGINT, day DATE)
WITH ('connector' = 'filesystem', 'path' = 'data/lines', 'format' = 'csv', 'csv.ignore-parse-errors' = 'true');
SET 'execution.runtime-mode' = 'batch';
SELECT COUNT(*) AS n FROM docs;
SELECT item, day FROM lines;
SELECT window_start, SUM(price) AS total FROM TABLE(TUMBLE(TABLE docs, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
