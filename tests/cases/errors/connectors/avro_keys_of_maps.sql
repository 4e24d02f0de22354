CREATE TABLE orders (of ARRAY<MAP<INT, STRING>>) WITH ('connector' = 'kafka', 'topic' = 'orders',
    'properties.bootstrap.servers' = 'h:1', 'format' = 'avro-confluent', 'avro-confluent.url' = 'http://h:2');
