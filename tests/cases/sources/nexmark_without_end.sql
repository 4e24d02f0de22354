SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE bids (
    auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3),
    WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '5' SECOND
) WITH (
    'connector' = 'nexmark', 'nexmark.table' = 'bid', 'disorder' = '5 s'
);
SELECT bidder, window_start, window_end, COUNT(*) AS bids
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
GROUP BY bidder, window_start, window_end;
