CREATE TABLE t (flag BOOLEAN) WITH ('connector' = 'datagen', 'fields.flag.kind' = 'sequence');
