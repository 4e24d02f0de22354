-- expect: prune_columns
CREATE TABLE stock (op STRING, item STRING, price INT) WITH ('connector' = 'filesystem', 'path' = 'stock', 'format' = 'json', 'changelog.op' = 'op');
SELECT item, code FROM TO_CHANGELOG(TABLE stock, DESCRIPTOR(code));
SELECT code, item FROM TO_CHANGELOG((SELECT item, COUNT(*) AS n FROM bid GROUP BY item), DESCRIPTOR(code), MAP['DELETE', 'd']);
