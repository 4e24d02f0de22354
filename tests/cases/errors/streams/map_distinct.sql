SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE votes (counts MAP<STRING, INT>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'data/votes', 'format' = 'json');
SELECT window_start, COUNT(DISTINCT counts) AS n
FROM TABLE(TUMBLE(TABLE votes, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
GROUP BY window_start, window_end;
