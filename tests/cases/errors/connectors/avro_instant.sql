CREATE TABLE orders (id BIGINT, at ROW<x TIMESTAMP_LTZ(3)>) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h:1', 'format' = 'avro');
