-- not /*+ OPTIONS('format' = 'csv') */ in a comment
CREATE TABLE shares (name STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '/shares/old', 'format' = 'json');
SELECT /*+ BROADCAST(shares) */ window_end, COUNT(*) AS n, '/*+ OPTIONS() */' AS text
FROM TABLE(TUMBLE(TABLE shares /*+ OPTIONS('path' = '/shares/new') */, DESCRIPTOR(ts), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
