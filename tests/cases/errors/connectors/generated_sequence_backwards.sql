CREATE TABLE t (id BIGINT) WITH ('connector' = 'datagen', 'fields.id.kind' = 'sequence', 'fields.id.start' = '9', 'fields.id.end' = '1');
