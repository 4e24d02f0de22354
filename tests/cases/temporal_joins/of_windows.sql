SET 'execution.runtime-mode' = 'streaming';
-- Windows, each total with the rate at the end of its window, and windows over these.
CREATE TABLE rates (item STRING, rate DECIMAL(10, 4), since TIMESTAMP(3), PRIMARY KEY (item) NOT ENFORCED, WATERMARK FOR since AS since)
  WITH ('connector' = 'filesystem', 'path' = 'rates', 'format' = 'json');
CREATE VIEW sums AS SELECT window_time AS at, item, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE))
GROUP BY window_start, window_end, window_time, item;
SELECT window_start, SUM(worth) AS total
FROM TABLE(TUMBLE(
    (SELECT at, total * rate AS worth FROM sums AS s JOIN rates FOR SYSTEM_TIME AS OF s.at AS r ON s.item = r.item),
    DESCRIPTOR(at), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
