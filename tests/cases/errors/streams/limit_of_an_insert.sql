SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE kept (item STRING) WITH ('connector' = 'filesystem', 'path' = 'kept', 'format' = 'json');
INSERT INTO kept SELECT item FROM bid LIMIT 3;
