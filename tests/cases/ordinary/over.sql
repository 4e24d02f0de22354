-- OVER is Spark's own.
SELECT item, price, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) AS place
FROM bid;
