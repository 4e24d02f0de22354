CREATE TABLE t (id BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = 'many');
