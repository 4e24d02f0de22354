SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE reading (sensor INT, degrees INT, t TIMESTAMP(3), WATERMARK FOR t AS t - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'readings', 'format' = 'json');
SELECT sensor, t, SUM(degrees) OVER (PARTITION BY sensor ORDER BY t) AS total
FROM (SELECT DISTINCT sensor, degrees, t FROM reading);
