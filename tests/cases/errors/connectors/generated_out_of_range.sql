CREATE TABLE t (id TINYINT) WITH ('connector' = 'datagen', 'fields.id.max' = '200');
