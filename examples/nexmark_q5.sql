-- Nexmark, query 5: hot items. Of the last ten seconds, every two, the auctions that had most bids.
-- Runs in both modes and returns the same rows: tvfsql run --mode streaming examples/nexmark_q5.sql

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

CREATE VIEW bids AS
SELECT window_start, window_end, auction, COUNT(*) AS bids
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
GROUP BY window_start, window_end, auction;

CREATE VIEW most AS
SELECT window_start, window_end, MAX(bids) AS bids
FROM bids
GROUP BY window_start, window_end;

SELECT bids.window_start, bids.window_end, auction, bids.bids
FROM bids
JOIN most
ON bids.window_start = most.window_start
  AND bids.window_end = most.window_end
  AND bids.bids = most.bids;
