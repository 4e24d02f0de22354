-- expect: make_top_n
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE best (item STRING, place BIGINT, price DECIMAL(10, 2), PRIMARY KEY (item, place) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/db', 'table-name' = 'best');
CREATE TABLE bidders (bidder BIGINT, item STRING, price DECIMAL(10, 2), PRIMARY KEY (bidder) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/db', 'table-name' = 'bidders');
CREATE VIEW ranked AS SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) AS place FROM bid;
INSERT INTO best SELECT item, place, price FROM ranked WHERE place <= 3;
INSERT INTO bidders SELECT bidder, item, price FROM ranked WHERE place <= 3;
