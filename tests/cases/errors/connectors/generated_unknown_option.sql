CREATE TABLE t (id BIGINT, price INT) WITH (
    'connector' = 'datagen',
    'number-of-rows' = '100',
    'fields.prise.min' = '1'
);
