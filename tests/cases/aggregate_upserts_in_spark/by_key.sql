-- expect: aggregate_upserts_in_spark
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE counts (n BIGINT, item STRING, most DECIMAL(10, 2), mean INT, year_of BIGINT,
    PRIMARY KEY (item, year_of) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/db', 'table-name' = 'counts');
INSERT INTO counts
SELECT COUNT(*), name, MAX(price) FILTER (WHERE quantity > 1), AVG(quantity) + 1, y
FROM (SELECT item AS name, price, quantity, YEAR(bidtime) AS y FROM bid WHERE price > 0) GROUP BY y, name;
