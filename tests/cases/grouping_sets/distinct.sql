-- Equal sets of keys count once.
SELECT item, COUNT(*) AS n FROM bid GROUP BY DISTINCT ROLLUP (item), ROLLUP (item);
