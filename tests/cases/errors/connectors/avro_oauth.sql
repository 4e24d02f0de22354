CREATE TABLE orders (id BIGINT) WITH ('connector' = 'kafka', 'topic' = 'orders',
    'properties.bootstrap.servers' = 'h:1', 'format' = 'avro-confluent', 'avro-confluent.url' = 'http://h:2',
    'avro-confluent.ssl.truststore.location' = '/t.jks');
