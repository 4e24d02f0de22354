CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 'x',
    'properties.bootstrap.servers' = 'h:1', 'key.format' = 'json', 'value.format' = 'debezium-json');
