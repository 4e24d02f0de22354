-- expect: make_top_n
SET 'execution.runtime-mode' = 'streaming';
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) AS place FROM bid) WHERE place <= 3;
