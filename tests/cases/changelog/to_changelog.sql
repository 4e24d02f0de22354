-- expect: update_groups_without_window
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE stock (op STRING, item STRING, price INT) WITH ('connector' = 'filesystem', 'path' = 'stock', 'format' = 'json', 'changelog.op' = 'op');
CREATE TABLE orders (item STRING, price INT) WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'debezium-json');
CREATE TABLE log (op STRING, item STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'log', 'format' = 'json');
INSERT INTO log SELECT * FROM TO_CHANGELOG((SELECT item, COUNT(*) AS n FROM bid GROUP BY item));
SELECT * FROM TO_CHANGELOG((SELECT item, price FROM stock WHERE price > 5), DESCRIPTOR(code), MAP['INSERT, UPDATE_AFTER', 'u', 'DELETE', 'd']);
SELECT code, COUNT(*) AS n FROM TO_CHANGELOG(TABLE orders, DESCRIPTOR(code)) GROUP BY code;
SELECT * FROM TO_CHANGELOG(TABLE bid, op_mapping => MAP['INSERT', 'i']);
