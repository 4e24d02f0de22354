-- expect: update_groups_without_window
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE counts (item STRING, n BIGINT, latest TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'counts', 'format' = 'debezium-json', 'debezium-json.timestamp-format.standard' = 'ISO-8601');
CREATE TABLE topic (item STRING, price DOUBLE) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h:1', 'value.format' = 'canal-json', 'value.canal-json.encode.ignore-null-fields' = 'true', 'key.format' = 'raw', 'key.fields' = 'item');
INSERT INTO counts SELECT item, COUNT(*), MAX(bidtime) FROM bid GROUP BY item;
INSERT INTO topic SELECT item, CAST(price AS DOUBLE) FROM bid;
