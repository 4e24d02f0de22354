SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE votes (counts MAP<STRING, INT>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'data/votes', 'format' = 'json');
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY counts ORDER BY ts) AS rn FROM votes) WHERE rn = 1;
