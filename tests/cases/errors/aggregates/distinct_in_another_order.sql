SELECT item, LISTAGG(DISTINCT item, ';') WITHIN GROUP (ORDER BY price) AS items FROM bid GROUP BY item;
