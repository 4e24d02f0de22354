CREATE TABLE orders (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'protobuf',
    'protobuf.message-class-name' = 'com.acme.Order');
