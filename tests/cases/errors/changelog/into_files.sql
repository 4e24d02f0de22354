SET 'execution.runtime-mode' = 'streaming';

CREATE TABLE stock (op STRING, item STRING, price DECIMAL(10, 2), quantity INT, rating DOUBLE, changed TIMESTAMP(3),
    WATERMARK FOR changed AS changed - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'data/stock', 'format' = 'csv', 'changelog.op' = 'op');
CREATE TABLE files (item STRING) WITH ('connector' = 'filesystem', 'path' = 'files', 'format' = 'json');

INSERT INTO files SELECT item FROM stock;
