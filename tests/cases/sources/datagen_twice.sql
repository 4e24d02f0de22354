CREATE TABLE orders (
    id BIGINT, price DECIMAL(10, 2), `when` TIMESTAMP(3)
) WITH (
    'connector' = 'datagen',
    'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '1000',
    'fields.price.min' = '0', 'fields.price.max' = '99.99',
    'fields.when.kind' = 'sequence', 'fields.when.step' = '250 ms', 'fields.when.max-past' = '2 s'
);
SELECT id, price FROM orders UNION ALL SELECT COUNT(*), NULL FROM orders;
