-- Its text is not a time, so all rows had the least BIGINT.
CREATE TABLE t (n INT) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
SELECT UNIX_TIMESTAMP(n) FROM t;
