SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE best (item STRING, price DECIMAL(10, 2)) WITH ('connector' = 'filesystem', 'path' = 'out/best', 'format' = 'json');
INSERT INTO best SELECT item, price FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) <= 3;
