-- A word that is neither true nor false.
CREATE TABLE t (op STRING, n INT) WITH ('connector' = 'spark-catalog', 'table-name' = 'db.t', 'format' = 'delta', 'changelog.feed' = 'yes');
SELECT n FROM t;
