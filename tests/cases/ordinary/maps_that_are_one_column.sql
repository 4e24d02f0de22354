-- a map with a NULL among its values equals itself, however its column is written, and no other map
CREATE TABLE carts (id INT, items MAP<STRING, INT>) WITH ('connector' = 'filesystem', 'path' = 'data/carts', 'format' = 'json');
SELECT id, RANK() OVER (ORDER BY id) AS place,
    (SELECT MAX(other.id) FROM carts AS other WHERE c.items = items AND other.items = items) AS alike
FROM carts AS c WHERE c.items = items;
