SET 'execution.runtime-mode' = 'streaming';

CREATE TABLE orders (id INT, item STRING, price INT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = 'data/orders', 'format' = 'debezium-json');
CREATE TABLE latest (number INT, item STRING, price INT, PRIMARY KEY (number) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/shop', 'table-name' = 'latest');

INSERT INTO latest SELECT id, item, price FROM orders;
