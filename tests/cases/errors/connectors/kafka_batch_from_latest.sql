CREATE TABLE t (a INT) WITH (
  'connector' = 'kafka', 'topic' = 'bids', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json', 'scan.startup.mode' = 'latest-offset'
);
SET 'execution.runtime-mode' = 'batch';
SELECT a FROM t;
