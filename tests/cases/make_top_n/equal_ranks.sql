-- expect: make_top_n
SET 'execution.runtime-mode' = 'streaming';
SELECT item, price, place FROM (SELECT *, RANK() OVER (PARTITION BY item ORDER BY price DESC) AS place FROM bid) WHERE place <= 2;
SELECT item, price, place FROM (SELECT *, DENSE_RANK() OVER (PARTITION BY item ORDER BY price DESC) AS place FROM bid) WHERE place <= 2;
