CREATE TABLE stock (op STRING, item STRING, price DECIMAL(10, 2), quantity INT, rating DOUBLE, changed TIMESTAMP(3),
    WATERMARK FOR changed AS changed - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'data/stock', 'format' = 'csv', 'changelog.op' = 'op');

INSERT INTO stock VALUES ('+I', 'pen', 1, 1, 1, CURRENT_TIMESTAMP);
