-- The feed has operations of its own.
CREATE TABLE t (op STRING, n INT) WITH ('connector' = 'spark-catalog', 'table-name' = 'db.t', 'format' = 'delta',
    'changelog.feed' = 'true', 'changelog.op' = 'op');
SELECT n FROM t;
