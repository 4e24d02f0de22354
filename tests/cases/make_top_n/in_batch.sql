-- expect-not: make_top_n
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) AS place FROM bid) WHERE place <= 3;
