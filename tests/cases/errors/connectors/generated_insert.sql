CREATE TABLE t (id BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '5');
INSERT INTO t SELECT bidder FROM bid;
