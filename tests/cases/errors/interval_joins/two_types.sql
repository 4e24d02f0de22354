SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE o (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = 'o', 'format' = 'json');
CREATE TABLE p (id INT, at TIMESTAMP_LTZ(3), WATERMARK FOR at AS at) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');
SELECT o.id FROM o, p WHERE o.id = p.id AND p.at BETWEEN o.ts AND o.ts + INTERVAL '10' MINUTE;
