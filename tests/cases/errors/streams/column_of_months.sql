SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE votes (n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'data/votes', 'format' = 'json');
SELECT ts, age, COUNT(*) OVER (PARTITION BY n ORDER BY ts) AS c
FROM (SELECT *, n * INTERVAL '1' MONTH AS age FROM votes);
