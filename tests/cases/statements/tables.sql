CREATE TABLE orders (
    id INT NOT NULL PRIMARY KEY NOT ENFORCED COMMENT 'the number',
    comment STRING COMMENT 'what the customer says',
    address ROW<street STRING COMMENT 'with the number', zip INT NOT NULL>,
    tags STRING ARRAY, words MULTISET<STRING>,
    ts TIMESTAMP(3), next_id AS id + 1,
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) COMMENT 'orders' DISTRIBUTED BY HASH(id) INTO 4 BUCKETS PARTITIONED BY (id)
WITH ('connector' = 'filesystem', 'path' = 'data/orders', 'format' = 'json');
CREATE TABLE copy WITH ('path' = 'data/copy') LIKE orders;
SHOW CREATE TABLE copy;
CREATE TABLE part (id STRING, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = 'data/part', 'format' = 'csv')
LIKE bid (EXCLUDING ALL INCLUDING GENERATED);
SHOW CREATE TABLE part;
ALTER TABLE copy SET ('format' = 'parquet', 'path' = 'data/other');
ALTER TABLE copy ADD (remark STRING, twice AS id * 2);
ALTER TABLE copy RENAME tags TO labels;
ALTER TABLE copy DROP (words, address);
ALTER TABLE copy MODIFY WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE;
ALTER TABLE copy RENAME TO renamed;
ALTER TABLE IF EXISTS nothing DROP WATERMARK;
SHOW CREATE TABLE renamed;
CREATE OR REPLACE TABLE part (a INT) WITH ('connector' = 'print');
DESCRIBE part;
