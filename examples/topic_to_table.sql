-- Orders of each minute, from a topic to a table of PostgreSQL:
-- tvfsql run examples/topic_to_table.sql --checkpoint orders_per_minute
CREATE TABLE orders (
    ts      BIGINT,  -- milliseconds since 1970, as in most topics
    item    STRING,
    price   DECIMAL(10, 2),
    ordered AS TO_TIMESTAMP_LTZ(ts, 3),
    WATERMARK FOR ordered AS ordered - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'orders',
    'properties.bootstrap.servers' = 'localhost:9092',
    'format' = 'json'
);

CREATE TABLE orders_per_minute (
    window_start TIMESTAMP_LTZ(3),
    item         STRING,
    orders       BIGINT,
    total        DECIMAL(20, 2),
    PRIMARY KEY (window_start, item) NOT ENFORCED
) WITH (
    'connector' = 'jdbc',
    'url' = 'jdbc:postgresql://localhost:5432/shop',
    'table-name' = 'orders_per_minute',
    'username' = '${ENV:PGUSER}',
    'password' = '${ENV:PGPASSWORD}'
);

INSERT INTO orders_per_minute
SELECT window_start, item, COUNT(*), SUM(price)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ordered), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, item;
