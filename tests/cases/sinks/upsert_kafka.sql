CREATE TABLE latest (item STRING, total DECIMAL(38, 2), ends TIMESTAMP(3), PRIMARY KEY (item, ends) NOT ENFORCED) WITH (
    'connector' = 'upsert-kafka', 'topic' = 'latest', 'properties.bootstrap.servers' = 'localhost:9092',
    'key.format' = 'json', 'value.format' = 'json', 'sink.parallelism' = '2'
);
INSERT INTO latest SELECT item, SUM(price), window_end
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item;
CREATE TABLE elsewhere (id BIGINT) WITH ('connector' = 'doris', 'fenodes' = 'localhost:8030', 'table.identifier' = 't');
INSERT INTO elsewhere SELECT bidder FROM bid;
