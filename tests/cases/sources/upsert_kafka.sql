CREATE TABLE latest (item STRING PRIMARY KEY NOT ENFORCED, bids BIGINT) WITH (
    'connector' = 'upsert-kafka', 'topic' = 'latest', 'properties.bootstrap.servers' = 'localhost:9092',
    'key.format' = 'json', 'value.format' = 'json', 'value.fields-include' = 'EXCEPT_KEY'
);
SELECT item, bids FROM latest;
SET 'execution.runtime-mode' = 'batch';
SELECT item, bids FROM latest;
