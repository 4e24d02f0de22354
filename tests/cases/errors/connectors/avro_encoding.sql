CREATE TABLE orders (id BIGINT) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h:1', 'format' = 'avro', 'avro.encoding' = 'json');
