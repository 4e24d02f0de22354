CREATE TABLE bids (auction BIGINT, price DECIMAL(10, 2))
WITH ('connector' = 'nexmark', 'nexmark.table' = 'bid', 'number-of-rows' = '10');
