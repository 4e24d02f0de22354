SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE reading (sensor INT, degrees INT, t TIMESTAMP(3), WATERMARK FOR t AS t - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'readings', 'format' = 'json');
SELECT DISTINCT sensor, degrees FROM reading ORDER BY degrees;
