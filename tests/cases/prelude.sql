-- The tables of all cases.

CREATE TABLE bid (
    item     STRING,
    bidder   BIGINT,
    price    DECIMAL(10, 2),
    quantity INT,
    rating   DOUBLE,
    bidtime  TIMESTAMP(3),
    WATERMARK FOR bidtime AS bidtime - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'data/bid.parquet', 'format' = 'parquet');

CREATE TABLE auction (
    id       BIGINT NOT NULL,
    item     STRING,
    seller   BIGINT,
    reserve  DECIMAL(10, 2),
    opened   TIMESTAMP(3),
    closes   AS opened + INTERVAL '1' DAY,
    WATERMARK FOR opened AS opened
) WITH ('connector' = 'filesystem', 'path' = 'data/auction', 'format' = 'csv', 'csv.header' = 'true');

CREATE TABLE person (
    id       BIGINT NOT NULL,
    name     STRING,
    city     STRING,
    joined   TIMESTAMP_LTZ(3),
    WATERMARK FOR joined AS joined - INTERVAL '1' MINUTE
) WITH ('connector' = 'filesystem', 'path' = 'data/person.json', 'format' = 'json');

CREATE TABLE totals (
    window_start TIMESTAMP(3),
    item         STRING,
    total        DECIMAL(38, 2)
) WITH ('connector' = 'filesystem', 'path' = 'out/totals', 'format' = 'parquet');

CREATE TABLE screen (item STRING, n BIGINT) WITH ('connector' = 'print');

CREATE TABLE nowhere (item STRING, n BIGINT) WITH ('connector' = 'blackhole');
