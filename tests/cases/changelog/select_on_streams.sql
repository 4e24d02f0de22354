SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE stock (op STRING, item STRING, price INT, tags ARRAY<STRING>, changed TIMESTAMP(3), WATERMARK FOR changed AS changed) WITH ('connector' = 'filesystem', 'path' = 'stock', 'format' = 'json', 'changelog.op' = 'op');
CREATE TABLE copy (item STRING, price INT) WITH ('connector' = 'filesystem', 'path' = 'copy', 'format' = 'debezium-json');
SELECT * FROM stock WHERE price > 5;
SELECT item, tag FROM stock CROSS JOIN UNNEST(tags) AS t(tag);
SELECT * FROM TO_CHANGELOG((SELECT item, window_end FROM TABLE(TUMBLE(TABLE stock, DESCRIPTOR(changed), INTERVAL '1' MINUTE))));
SELECT item, price FROM (SELECT item, ARRAY_AGG(bidder) AS prices FROM bid GROUP BY item) CROSS JOIN UNNEST(prices) AS t(price);
SELECT * FROM FROM_CHANGELOG((SELECT item, 'INSERT' AS op FROM bid));
INSERT INTO copy SELECT item, price FROM stock UNION ALL SELECT item, quantity FROM bid;
