-- expect: make_top_n
SET 'execution.runtime-mode' = 'streaming';
SELECT item, place FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY price DESC) AS place FROM bid) WHERE place BETWEEN 2 AND 5;
