-- Nexmark, query 7: the highest bid of every ten seconds, and who made it on what.
-- Runs in both modes and returns the same rows: tvfsql run --mode streaming examples/nexmark_q7.sql

CREATE TABLE bid (
    auction    BIGINT,
    bidder     BIGINT,
    price      BIGINT,
    channel    STRING,
    url        STRING,
    `dateTime` TIMESTAMP(3),
    extra      STRING,
    WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND
) WITH (
    'connector' = 'nexmark',
    'nexmark.table' = 'bid',
    'first-event.rate' = '1000',  -- events a second of event time; 46 of 50 are bids
    'disorder' = '4 s',           -- how late a bid may arrive
    'number-of-rows' = '100000',  -- without it the table is unbounded
    'rows-per-batch' = '20000'    -- of a stream: five micro-batches
);

CREATE VIEW highest AS
SELECT window_start, window_end, MAX(price) AS price
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
GROUP BY window_start, window_end;

SELECT b.window_start, b.window_end, auction, bidder, b.price
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND)) AS b
JOIN highest AS h
ON b.window_start = h.window_start AND b.window_end = h.window_end AND b.price = h.price;
