CREATE TABLE clicks (ts TIMESTAMP(3), item STRING, n INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka', 'topic' = 'clicks', 'properties.bootstrap.servers' = 'b:9092', 'format' = 'json');
CREATE VIEW ahead AS SELECT ts, n, LEAD(n) OVER (PARTITION BY item ORDER BY ts) AS following FROM clicks;
SELECT window_start, SUM(following) AS s FROM TABLE(TUMBLE(TABLE ahead, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
