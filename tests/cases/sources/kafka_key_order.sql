CREATE TABLE bids (item STRING, price DOUBLE, at TIMESTAMP(3)) WITH (
    'connector' = 'kafka', 'topic' = 'bids', 'properties.bootstrap.servers' = 'localhost:9092',
    'key.format' = 'csv', 'key.fields' = 'at;item', 'value.format' = 'avro', 'value.fields-include' = 'EXCEPT_KEY'
);
CREATE TABLE unread (place STRING, text STRING) WITH ('connector' = 'print');
SET 'tvfsql.dead-letter' = 'unread';
SET 'execution.runtime-mode' = 'streaming';
SELECT * FROM bids;
