-- An order can move from one customer to another, so its changes come from two tasks.
-- expect: make_regular_join retract_changes
CREATE TABLE orders (id BIGINT, customer BIGINT, op STRING, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = 'data/orders', 'format' = 'json', 'changelog.op' = 'op');
CREATE TABLE enriched (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/shop', 'table-name' = 'enriched');
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '30 d';
INSERT INTO enriched SELECT o.id, p.name FROM orders AS o LEFT JOIN person AS p ON o.customer = p.id;
