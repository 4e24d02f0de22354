CREATE TABLE orders (id BIGINT) WITH ('connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'h:1',
    'value.format' = 'protobuf', 'value.protobuf.message-class-name' = 'com.acme.Order',
    'value.protobuf.descriptor-file' = '/nowhere/orders.desc');
