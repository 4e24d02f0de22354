-- expect: update_groups_without_window
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
CREATE TABLE counts (item STRING, n BIGINT, PRIMARY KEY (item) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/db', 'table-name' = 'counts');
INSERT INTO counts SELECT item, COUNT(*) FROM bid GROUP BY item;
