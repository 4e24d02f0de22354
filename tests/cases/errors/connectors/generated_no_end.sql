CREATE TABLE bids (price BIGINT, dateTime TIMESTAMP(3)) WITH ('connector' = 'nexmark', 'nexmark.table' = 'bid');
SET 'execution.runtime-mode' = 'batch';
SELECT price FROM bids;
