CREATE TABLE sums (item STRING PRIMARY KEY NOT ENFORCED, n BIGINT)
WITH ('connector' = 'upsert-kafka', 'topic' = 'totals', 'properties.bootstrap.servers' = 'localhost:9092',
    'key.format' = 'json', 'value.format' = 'json');
INSERT INTO sums SELECT item, bidder FROM bid ON CONFLICT DO NOTHING;
