SELECT item, GROUPING(item) AS g, GROUP_ID() AS copy, COUNT(*) AS n FROM bid GROUP BY item;
SELECT COUNT(*) AS n FROM bid GROUP BY ();
