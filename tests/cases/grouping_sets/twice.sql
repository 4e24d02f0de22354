SELECT item, GROUP_ID() AS copy, COUNT(*) AS n FROM bid GROUP BY item, ROLLUP (item);
