-- sqlglot skips DISTINCT, which merges equal sets.
SELECT item, COUNT(*) AS n FROM bid GROUP BY DISTINCT ROLLUP (item), ROLLUP (item);
