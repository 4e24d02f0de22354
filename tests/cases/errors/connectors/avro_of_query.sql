CREATE TABLE orders WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h:1', 'format' = 'avro') AS SELECT 1 AS id;
