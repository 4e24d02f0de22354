CREATE TABLE t (id BIGINT, tags ARRAY<STRING>) WITH ('connector' = 'datagen');
