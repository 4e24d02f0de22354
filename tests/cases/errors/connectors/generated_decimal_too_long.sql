CREATE TABLE t (price DECIMAL(38, 2)) WITH ('connector' = 'datagen', 'fields.price.max' = '1e30');
