-- Its declaration reads.
CREATE TABLE t (op STRING, n INT) WITH ('connector' = 'spark-catalog', 'table-name' = 'db.t', 'format' = 'delta', 'changelog.feed' = 'true');
INSERT INTO t VALUES ('a', 1);
