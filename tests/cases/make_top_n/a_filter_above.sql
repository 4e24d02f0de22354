-- expect: make_top_n
SET 'execution.runtime-mode' = 'streaming';
SELECT item, price, place FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) AS place FROM bid)
WHERE place <= 3 AND quantity > 5;
