CREATE TABLE t (event_type INT) WITH ('connector' = 'nexmark', 'bid.proportion' = '40');
