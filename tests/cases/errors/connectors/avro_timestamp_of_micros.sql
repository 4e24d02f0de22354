CREATE TABLE orders (id BIGINT, at TIMESTAMP) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h:1', 'format' = 'avro');
