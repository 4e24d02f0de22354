SET 'execution.runtime-mode' = 'streaming';

CREATE TABLE stock (op STRING, item STRING, price DECIMAL(10, 2), quantity INT, rating DOUBLE, changed TIMESTAMP(3),
    WATERMARK FOR changed AS changed - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'data/stock', 'format' = 'csv', 'changelog.op' = 'op');
CREATE TABLE latest (item STRING, price DECIMAL(10, 2), PRIMARY KEY (item) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/shop', 'table-name' = 'latest');

INSERT INTO latest SELECT item, price FROM stock;
