CREATE TABLE t (item STRING) WITH ('connector' = 'datagen', 'seed' = 5);
