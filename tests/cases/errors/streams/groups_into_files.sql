SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE counts (item STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out/counts', 'format' = 'json');
INSERT INTO counts SELECT item, COUNT(*) FROM bid GROUP BY item;
