-- Nexmark, like query 12: how many bids each bidder made in every ten seconds, here of event time.
-- Shown are those who made 50 or more: of a hundred neighbouring bidders one is hot.
-- Runs in both modes and returns the same rows: tvfsql run --mode streaming examples/nexmark_q12.sql

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

SELECT window_start, window_end, bidder, COUNT(*) AS bids
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, bidder
HAVING COUNT(*) >= 50;
