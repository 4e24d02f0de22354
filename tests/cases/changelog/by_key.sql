-- expect: retract_changes
-- Changes that come twice, and messages that replace others: the last row of each key is in state.
SET 'table.exec.source.cdc-events-duplicate' = 'true';
CREATE TABLE stock (op STRING, item STRING, price DECIMAL(10, 2), place STRING, changed BIGINT,
    rt AS TO_TIMESTAMP_LTZ(changed, 3), WATERMARK FOR rt AS rt - INTERVAL '5' SECOND, PRIMARY KEY (item) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = 'data/stock', 'format' = 'csv', 'changelog.op' = 'op');
CREATE TABLE latest (item STRING, price DECIMAL(10, 2), changed TIMESTAMP(3), WATERMARK FOR changed AS changed,
    PRIMARY KEY (item) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'latest', 'properties.bootstrap.servers' = 'localhost:9092', 'key.format' = 'json',
    'value.format' = 'json');

SELECT window_start, window_end, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE stock, DESCRIPTOR(rt), INTERVAL '10' MINUTE)) WHERE price > 1 GROUP BY window_start, window_end;
SET 'execution.runtime-mode' = 'streaming';

SELECT window_start, window_end, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE stock, DESCRIPTOR(rt), INTERVAL '10' MINUTE)) WHERE price > 1 GROUP BY window_start, window_end;
SELECT window_start, window_end, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE latest, DESCRIPTOR(changed), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end;
