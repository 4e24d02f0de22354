CREATE TABLE bids (auction BIGINT) WITH ('connector' = 'nexmark', 'nexmark.table' = 'bid', 'disorder' = '5 parsecs');
