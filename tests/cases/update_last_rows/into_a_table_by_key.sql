-- expect: update_last_rows
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE latest (item STRING, price DECIMAL(10, 2), PRIMARY KEY (item) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/db', 'table-name' = 'latest');
INSERT INTO latest SELECT item, price FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY bidtime DESC) = 1;
