CREATE TABLE bids (auction BIGINT) WITH ('connector' = 'nexmark', 'nexmark.table' = 'bids');
