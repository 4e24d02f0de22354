-- Nexmark, query 8: new users. Who joined and opened an auction within the same ten seconds.
-- Runs in both modes and returns the same rows: tvfsql run --mode streaming examples/nexmark_q8.sql

CREATE TABLE person (
    id         BIGINT,
    name       STRING,
    city       STRING,
    `dateTime` TIMESTAMP(3),
    WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND
) WITH (
    'connector' = 'nexmark',
    'nexmark.table' = 'person',
    'first-event.rate' = '1000',  -- events a second of event time; one of 50 is a person
    'disorder' = '4 s',           -- how late a person may arrive
    'number-of-rows' = '2000',    -- without it the table is unbounded
    'rows-per-batch' = '400'      -- of a stream: five micro-batches
);

CREATE TABLE auction (
    id         BIGINT,
    `itemName` STRING,
    reserve    BIGINT,
    `dateTime` TIMESTAMP(3),
    seller     BIGINT,
    WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND
) WITH (
    'connector' = 'nexmark',
    'nexmark.table' = 'auction',
    'first-event.rate' = '1000',  -- three of 50 events are auctions
    'disorder' = '4 s',
    'number-of-rows' = '6000',    -- of the same 100 seconds as the persons
    'rows-per-batch' = '1200'
);

SELECT p.window_start, p.window_end, id, name
FROM (
    SELECT window_start, window_end, id, name
    FROM TABLE(TUMBLE(TABLE person, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
    GROUP BY window_start, window_end, id, name
) AS p
JOIN (
    SELECT window_start, window_end, seller
    FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
    GROUP BY window_start, window_end, seller
) AS a
ON p.window_start = a.window_start AND p.window_end = a.window_end AND id = seller;
