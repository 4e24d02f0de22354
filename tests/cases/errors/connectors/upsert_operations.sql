CREATE TABLE latest (op STRING, item STRING PRIMARY KEY NOT ENFORCED, bids BIGINT)
WITH ('connector' = 'upsert-kafka', 'topic' = 'latest', 'properties.bootstrap.servers' = 'localhost:9092',
    'key.format' = 'json', 'value.format' = 'json', 'changelog.op' = 'op');
