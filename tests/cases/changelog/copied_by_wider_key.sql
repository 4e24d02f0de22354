-- INSERT casts the key to BIGINT, which keeps its rows apart: in a copy of a changelog, and in groups without a window.
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE latest (id INT, price DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'latest', 'properties.bootstrap.servers' = 'localhost:9092', 'key.format' = 'json',
    'value.format' = 'json');
CREATE TABLE copied (id BIGINT, price DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/shop', 'table-name' = 'copied');
CREATE TABLE counted (quantity BIGINT, n BIGINT, PRIMARY KEY (quantity) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/shop', 'table-name' = 'counted');

INSERT INTO copied SELECT id, price FROM latest;
INSERT INTO counted SELECT quantity, COUNT(*) FROM bid GROUP BY quantity;
