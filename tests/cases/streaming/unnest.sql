-- Each row gives rows of its own, so a stream needs no state for them.
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE orders (id INT, tags ARRAY<STRING>) WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');
SELECT id, UPPER(tag) AS tag FROM orders CROSS JOIN UNNEST(tags) AS t (tag) WHERE id > 0;
