SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE votes (n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'data/votes', 'format' = 'json');
SELECT window_start, MAX(n * INTERVAL '1' MONTH) AS longest
FROM TABLE(TUMBLE(TABLE votes, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
GROUP BY window_start, window_end;
