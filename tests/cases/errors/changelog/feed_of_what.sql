-- Delta has a feed of its own; which one it is must be known without Spark.
CREATE TABLE t (op STRING, n INT) WITH ('connector' = 'spark-catalog', 'table-name' = 'db.t', 'changelog.feed' = 'true');
SELECT n FROM t;
