SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE reading (sensor INT, degrees INT, t TIMESTAMP(3), sent TIMESTAMP(3), WATERMARK FOR t AS t - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'readings', 'format' = 'json');
CREATE VIEW minutes AS SELECT sensor, t, sent, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE reading, DESCRIPTOR(t), INTERVAL '1' MINUTE)) GROUP BY sensor, t, sent, window_start, window_end;
SELECT * FROM minutes MATCH_RECOGNIZE (
    PARTITION BY sensor ORDER BY t MEASURES A.t AS first_t PATTERN (A B) DEFINE B AS B.n > A.n);
