-- expect: update_groups_without_window
SET 'execution.runtime-mode' = 'streaming';

CREATE TABLE stock (op STRING, item STRING, price DECIMAL(10, 2), quantity INT, rating DOUBLE, changed TIMESTAMP(3),
    WATERMARK FOR changed AS changed - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'data/stock', 'format' = 'csv', 'changelog.op' = 'op');

INSERT INTO screen SELECT item, COUNT(DISTINCT price) FROM stock WHERE quantity > 1 GROUP BY item HAVING MAX(rating) > 2;
