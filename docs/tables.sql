-- The tables of the examples in sql/: tvfsql run -i docs/tables.sql -e "SELECT ..."

CREATE TABLE bid (
    bidtime TIMESTAMP(3),
    item    STRING,
    price   DECIMAL(10, 2),
    bidder  STRING,
    WATERMARK FOR bidtime AS bidtime - INTERVAL '5' SECOND
) WITH (
    'connector' = 'filesystem',
    'path' = 'bid.csv',
    'format' = 'csv'
);

CREATE TABLE auction (
    opened TIMESTAMP(3),
    item   STRING,
    seller STRING,
    WATERMARK FOR opened AS opened - INTERVAL '5' SECOND
) WITH (
    'connector' = 'filesystem',
    'path' = 'auction.csv',
    'format' = 'csv'
);

CREATE TABLE totals (
    window_start TIMESTAMP(3),
    item         STRING,
    total        DECIMAL(38, 2)
) WITH (
    'connector' = 'filesystem',
    'path' = 'out/totals',
    'format' = 'json'
);

CREATE TABLE screen (item STRING, n BIGINT) WITH ('connector' = 'print');
