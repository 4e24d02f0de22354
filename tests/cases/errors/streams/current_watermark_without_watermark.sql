CREATE TABLE t (ts TIMESTAMP(3), n INT) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
SET 'execution.runtime-mode' = 'streaming';
SELECT n, CURRENT_WATERMARK(ts) FROM t;
