CREATE TABLE t (a INT) WITH (
  'connector' = 'kafka', 'topic' = 'a;b', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json', 'scan.startup.mode' = 'specific-offsets', 'scan.startup.specific-offsets' = 'partition:0,offset:42'
);
