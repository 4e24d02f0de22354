-- Spark computes this query, because of the subquery.
SELECT *, (SELECT MAX(price) FROM bid) AS most WHERE 2 < 3;
