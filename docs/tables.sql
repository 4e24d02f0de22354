-- The table of the examples in sql.md: tvfsql run -i docs/tables.sql -e "SELECT ..."

CREATE TABLE bid (
    bidtime TIMESTAMP(3),
    item    STRING,
    price   DECIMAL(10, 2),
    bidder  STRING,
    WATERMARK FOR bidtime AS bidtime - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'bid.csv', 'format' = 'csv');
