CREATE TABLE t (ts TIMESTAMP(3)) WITH ('connector' = 'datagen', 'fields.ts.start' = 'noon');
