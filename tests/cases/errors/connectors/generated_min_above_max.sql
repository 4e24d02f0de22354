CREATE TABLE t (price DECIMAL(10, 2)) WITH ('connector' = 'datagen', 'fields.price.min' = '5', 'fields.price.max' = '4.99');
