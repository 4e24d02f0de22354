SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE clicks (url STRING, proc AS PROCTIME())
  WITH ('connector' = 'filesystem', 'path' = 'clicks', 'format' = 'json');
CREATE TABLE pages (url STRING, title STRING) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql:db', 'table-name' = 'pages',
  'scan.partition.column' = 'url', 'lookup.cache' = 'PARTIAL', 'lookup.partial-cache.max-rows' = '1000');
CREATE VIEW per_minute AS
SELECT url, window_time, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(proc), INTERVAL '1' MINUTE))
GROUP BY url, window_start, window_end, window_time;
SELECT title, n FROM per_minute AS c LEFT JOIN pages FOR SYSTEM_TIME AS OF c.window_time AS p ON c.url = p.url AND n > 1;
