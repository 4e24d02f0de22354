CREATE TABLE orders (id BIGINT) WITH ('connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'h:1',
    'format' = 'protobuf', 'protobuf.message-class-name' = 'com.acme.Order');
