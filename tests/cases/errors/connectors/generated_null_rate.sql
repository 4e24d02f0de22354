CREATE TABLE t (id BIGINT) WITH ('connector' = 'datagen', 'fields.id.null-rate' = '30');
