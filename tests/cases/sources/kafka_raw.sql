-- The value is one text as it is; reading starts where the table says.
CREATE TABLE lines (line STRING, number BIGINT METADATA FROM 'offset' VIRTUAL) WITH (
  'connector' = 'kafka', 'topic' = 'lines', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'raw',
  'scan.startup.mode' = 'specific-offsets', 'scan.startup.specific-offsets' = 'partition:0,offset:42;partition:1,offset:7'
);
SELECT number, line FROM lines;
