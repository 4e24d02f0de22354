-- All changes of a customer come from one task, in order.
-- expect: make_regular_join
CREATE TABLE known (id BIGINT, seller STRING, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/shop', 'table-name' = 'known');
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '30 d';
INSERT INTO known SELECT a.id, p.name FROM auction AS a LEFT JOIN person AS p ON a.seller = p.id;
