-- The runtime reads texts.
CREATE TABLE t (n INT) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
SELECT JSON_QUOTE(n) FROM t;
