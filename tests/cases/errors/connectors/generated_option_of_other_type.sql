CREATE TABLE t (name STRING) WITH ('connector' = 'datagen', 'fields.name.min' = '1');
