CREATE TABLE shares (name STRING) WITH ('connector' = 'filesystem', 'path' = '/shares', 'format' = 'json');
SELECT name FROM shares /*+ OPTIONS('paht' = '/other') */;
