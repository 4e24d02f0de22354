-- expect: update_groups_without_window
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE orders (id INT, tags ARRAY<STRING>) WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');
SELECT tag, COUNT(*) AS n FROM orders CROSS JOIN UNNEST(tags) AS t (tag) GROUP BY tag;
