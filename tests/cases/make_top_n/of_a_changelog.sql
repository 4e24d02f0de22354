-- expect: make_top_n retract_changes
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE stock (op STRING, item STRING, price DECIMAL(10, 2))
WITH ('connector' = 'filesystem', 'path' = 'data/stock', 'format' = 'csv', 'changelog.op' = 'op');
SELECT item, price FROM stock QUALIFY ROW_NUMBER() OVER (ORDER BY price DESC) <= 2;
