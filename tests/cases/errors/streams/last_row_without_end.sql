CREATE TABLE reading (sensor INT, t TIMESTAMP(3), WATERMARK FOR t AS t)
WITH ('connector' = 'datagen', 'rows-per-second' = '10');
CREATE TABLE latest (sensor INT, t TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'out/latest', 'format' = 'json');
INSERT INTO latest SELECT sensor, t FROM reading QUALIFY ROW_NUMBER() OVER (PARTITION BY sensor ORDER BY t DESC) = 1;
