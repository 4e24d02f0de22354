SELECT n FROM bid AS o JOIN LATERAL SNAPSHOT((SELECT item, COUNT(*) AS n FROM bid GROUP BY item)) AS d ON o.item = d.item;
