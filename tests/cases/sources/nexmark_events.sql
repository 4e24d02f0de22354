-- All events in one table, with the options of the public suite; time columns out of rows, and other expressions.
CREATE TABLE events (
    event_type INT,
    person ROW<id BIGINT, name VARCHAR, `dateTime` TIMESTAMP(3)>,
    auction ROW<id BIGINT, seller BIGINT, `dateTime` TIMESTAMP(3)>,
    bid ROW<auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3)>,
    `dateTime` AS CASE
        WHEN event_type = 0 THEN person.`dateTime` WHEN event_type = 1 THEN auction.`dateTime` ELSE bid.`dateTime`
    END,
    WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND
) WITH (
    'connector' = 'nexmark', 'first-event.rate' = '1000', 'next-event.rate' = '1000', 'events.num' = '5000',
    'person.proportion' = '1', 'auction.proportion' = '3', 'bid.proportion' = '46'
);
CREATE VIEW bids AS SELECT bid.auction, bid.price, `dateTime` FROM events WHERE event_type = 2;
SELECT auction, COUNT(*) AS num, window_start
FROM TABLE(HOP(TABLE bids, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
GROUP BY auction, window_start, window_end;
