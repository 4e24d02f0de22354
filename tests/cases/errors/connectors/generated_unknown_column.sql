CREATE TABLE bids (auction BIGINT, datetime TIMESTAMP(3))
WITH ('connector' = 'nexmark', 'nexmark.table' = 'bid', 'number-of-rows' = '10');
