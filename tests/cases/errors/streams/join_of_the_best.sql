SET 'execution.runtime-mode' = 'streaming';
SELECT b.item, a.seller FROM (SELECT * FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) <= 3) AS b
JOIN auction AS a ON a.item = b.item AND b.bidtime BETWEEN a.opened AND a.opened + INTERVAL '1' DAY;
