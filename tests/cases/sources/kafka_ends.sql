-- A stream reads to the latest offset and leaves out what comes at the end or after it; batch has an option of Spark.
CREATE TABLE messages (item STRING, heads MAP<STRING, BYTES> METADATA FROM 'headers' VIRTUAL,
    kind STRING METADATA FROM 'timestamp-type' VIRTUAL)
WITH ('connector' = 'kafka', 'topic' = 'bids', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json',
    'scan.bounded.mode' = 'timestamp', 'scan.bounded.timestamp-millis' = '1586944800000');
SET 'execution.runtime-mode' = 'streaming';
SELECT item, heads, kind FROM messages;
SET 'execution.runtime-mode' = 'batch';
SELECT item FROM messages;
CREATE TABLE offsets (item STRING) WITH ('connector' = 'kafka', 'topic' = 'bids',
    'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json', 'scan.bounded.mode' = 'specific-offsets',
    'scan.bounded.specific-offsets' = 'partition:0,offset:42;partition:1,offset:7');
SELECT item FROM offsets;
