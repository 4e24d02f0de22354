CREATE TABLE orders (id BIGINT, at ARRAY<MAP<INT, STRING>>) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h:1', 'format' = 'avro');
